package io.troupe.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.protocol.ReplyTo;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.ManualTime;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PendingRepliesTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(7);

  private record Question(String text, ReplyTo<String> replyTo) {}

  private final ActorTestKit kit = ActorTestKit.create(ManualTime.config());
  private final ManualTime time = ManualTime.get(kit.system());
  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000_000_000);
  private final PendingReplies replies = new PendingReplies(kit.scheduler(), nanos::get);
  private final TestProbe<Question> actor = kit.createTestProbe();

  @AfterEach
  void stop() {
    kit.shutdownTestKit();
  }

  private CompletableFuture<String> ask(String text, Duration timeout) {
    return replies.ask(
        actor.getRef(), (ReplyTo<String> replyTo) -> new Question(text, replyTo), timeout);
  }

  private void pass(Duration duration) {
    nanos.addAndGet(duration.toNanos());
    time.timePasses(duration);
  }

  private static void assertTimedOut(CompletableFuture<String> reply) {
    assertThat(reply).isCompletedExceptionally();
    assertThatThrownBy(reply::join).hasCauseInstanceOf(TimeoutException.class);
  }

  @Test
  void replyCompletesFutureOnReplyingThreadAndLeavesNothing() {
    CompletableFuture<String> reply = ask("a", TIMEOUT);
    CompletableFuture<Thread> dependent = reply.thenApply(text -> Thread.currentThread());
    Question question = actor.expectMessageClass(Question.class);
    assertThat(question.text()).isEqualTo("a");
    assertThat(replies.count()).isEqualTo(1);
    assertThat(reply).isNotDone();

    question.replyTo().tell("b");

    assertThat(reply).isCompletedWithValue("b");
    assertThat(dependent).isCompletedWithValue(Thread.currentThread());
    assertThat(replies.count()).isZero();
  }

  @Test
  void replyThatDoesNotArriveTimesOut() {
    CompletableFuture<String> early = ask("a", TIMEOUT);
    pass(Duration.ofSeconds(3));
    CompletableFuture<String> late = ask("b", TIMEOUT);
    pass(Duration.ofMillis(3999));
    assertThat(early).isNotDone();

    pass(PendingReplies.CHECK_EVERY.plusMillis(1));

    assertTimedOut(early);
    assertThatThrownBy(early::join).hasMessageContaining("PT7S");
    assertThat(late).isNotDone();
    assertThat(replies.count()).isEqualTo(1);
    pass(Duration.ofSeconds(3));
    assertTimedOut(late);
    assertThat(replies.count()).isZero();
  }

  @Test
  void firstReplyCountsAndNoneAfterTimeout() {
    CompletableFuture<String> replied = ask("a", TIMEOUT);
    ReplyTo<String> replyTo = actor.expectMessageClass(Question.class).replyTo();
    replyTo.tell("first");
    replyTo.tell("second");
    assertThat(replied).isCompletedWithValue("first");

    CompletableFuture<String> timedOut = ask("b", TIMEOUT);
    pass(TIMEOUT.plus(PendingReplies.CHECK_EVERY));
    actor.expectMessageClass(Question.class).replyTo().tell("late");
    assertTimedOut(timedOut);
  }

  @Test
  void withoutTimeLeftNothingIsSent() {
    assertTimedOut(ask("a", Duration.ZERO));
    assertTimedOut(ask("b", Duration.ofMillis(-1)));
    actor.expectNoMessage();
    assertThat(replies.count()).isZero();
  }
}
