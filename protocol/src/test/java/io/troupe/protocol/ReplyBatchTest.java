package io.troupe.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReplyBatchTest {
  private final List<String> ran = new ArrayList<>();

  @Test
  void actionsRunOnceInOrderWhenAllRepliesAreSent() {
    Runnable first = () -> ran.add("first");
    ReplyBatch batch = new ReplyBatch();
    batch.whenSent(first);
    batch.whenSent(() -> ran.add("second"));
    batch.whenSent(first);
    assertThat(ran).isEmpty();
    batch.sent();
    assertThat(ran).containsExactly("first", "second");
  }

  @Test
  void actionRunsImmediatelyAfterTheLastReply() {
    ReplyBatch batch = new ReplyBatch();
    batch.sent();
    batch.whenSent(() -> ran.add("first"));
    assertThat(ran).containsExactly("first");
    ReplyBatch.ALONE.whenSent(() -> ran.add("second"));
    assertThat(ran).containsExactly("first", "second");
  }
}
