package io.troupe.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.MemoryBudget;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Requester;
import io.troupe.model.Result;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import java.time.Duration;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The actor that replies to a proposal spends no time on the response. */
class ReplyThreadTest {
  private final FakeMember fake = new FakeMember(false);
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Call call =
      new Call(
          null,
          false,
          Optional.empty(),
          "",
          new MemoryBudget(1 << 20).share(),
          () -> false,
          null,
          tasks::add,
          CallTrace.NONE);

  @AfterEach
  void stop() {
    fake.close();
  }

  private CompletableFuture<Result> proposed() {
    return fake.proposer
        .propose(Requester.ANONYMOUS, new Operation.LeaseRevoke(7), call)
        .toCompletableFuture();
  }

  /** The reply completes the call on the thread of the test probe or of the test. */
  private void awaitTask() {
    Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> !tasks.isEmpty());
  }

  @Test
  void resultIsHandledByExecutorOfCall() {
    CompletableFuture<Result> response = proposed();
    fake.raft
        .expectMessageClass(RaftCommand.Propose.class)
        .replyTo()
        .tell(new ProposeReply.Applied(new Result.LeaseRevoke(3), 1));
    awaitTask();
    assertThat(response).isNotDone();
    tasks.remove().run();
    assertThat(response).isCompletedWithValue(new Result.LeaseRevoke(3));
  }

  @Test
  void refusalIsHandledByExecutorOfCall() {
    CompletableFuture<Result> response = proposed();
    fake.raft
        .expectMessageClass(RaftCommand.Propose.class)
        .replyTo()
        .tell(new ProposeReply.NotProposed(Refusal.TOO_MANY_REQUESTS));
    awaitTask();
    assertThat(response).isNotDone();
    tasks.remove().run();
    assertThat(response).isCompletedExceptionally();
  }
}
