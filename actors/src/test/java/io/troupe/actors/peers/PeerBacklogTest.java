package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What waits for an actor is bounded, and a flood of one sender leaves others their messages. */
class PeerBacklogTest {
  private static final NodeId FLOODER = new NodeId(1);
  private static final NodeId HONEST = new NodeId(2);
  private static final long LIMIT = 1 << 20;
  private static final int SMALL = 100;
  private static final int LARGE = 100_000;

  private final PeerBacklog backlog = new PeerBacklog(LIMIT, id -> id.value() < 10);
  private final List<Runnable> waiting = new ArrayList<>();

  private boolean offer(NodeId from, long size) {
    Runnable handled = backlog.tryTake(from, size);
    if (handled != null) {
      waiting.add(handled);
    }
    return handled != null;
  }

  private int accepted(NodeId from, int size, int count) {
    int accepted = 0;
    for (int i = 0; i < count; i++) {
      accepted += offer(from, size) ? 1 : 0;
    }
    return accepted;
  }

  @Test
  void largeMessagesAreBoundedAndOthersHeartbeatsPass() {
    assertThat(accepted(FLOODER, LARGE, 1000)).isEqualTo(10);
    assertThat(backlog.bytes()).isLessThanOrEqualTo(LIMIT);
    assertThat(accepted(HONEST, SMALL, 100)).isEqualTo(100);
    waiting.forEach(Runnable::run);
    assertThat(backlog.bytes()).isZero();
    assertThat(offer(FLOODER, LARGE)).isTrue();
  }

  @Test
  void smallMessagesOfOneSenderAreBoundedInNumber() {
    assertThat(accepted(FLOODER, 0, 10_000)).isLessThanOrEqualTo(4096);
    assertThat(accepted(HONEST, SMALL, 100)).isEqualTo(100);
  }

  @Test
  void oneMessageOfEachMemberPassesWhateverItsSize() {
    accepted(FLOODER, LARGE, 1000);
    assertThat(offer(HONEST, 10 * LIMIT)).isTrue();
    assertThat(offer(HONEST, LARGE)).isFalse();
  }

  @Test
  void unknownSendersShareSpaceOfOneMember() {
    accepted(FLOODER, LARGE, 1000);
    int accepted = 0;
    for (int i = 10; i < 10_000; i++) {
      accepted += offer(new NodeId(i), SMALL) ? 1 : 0;
    }
    assertThat(accepted).isLessThan(200);
    assertThat(offer(new NodeId(10), 10 * LIMIT)).isFalse();
  }
}
