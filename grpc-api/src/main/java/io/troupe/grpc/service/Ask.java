package io.troupe.grpc.service;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.RecipientRef;
import org.apache.pekko.actor.typed.Scheduler;
import org.apache.pekko.actor.typed.scaladsl.AskPattern;
import org.apache.pekko.util.Timeout;
import scala.concurrent.ExecutionContext;

/**
 * Asks a room. Pekko's Java ask returns a stage whose dependents run on {@link CompletableFuture}'s
 * default pool, and with two cores or fewer that is a new thread for each: measured at ten times
 * the cost of a Put. The stage returned here runs them where the answer arrives.
 */
final class Ask {
  private Ask() {}

  /**
   * Sends what {@code message} makes of the address for the answer.
   *
   * @return the answer; fails with a TimeoutException when none came in time: what was asked for
   *     may happen all the same
   */
  static <M, R> CompletableFuture<R> ask(
      RecipientRef<M> actor,
      Function<ActorRef<R>, M> message,
      Duration timeout,
      Scheduler scheduler) {
    CompletableFuture<R> answer = new CompletableFuture<>();
    new AskPattern.Askable<>(actor)
        .<R>ask(message::apply, Timeout.create(timeout), scheduler)
        .onComplete(
            outcome -> {
              if (outcome.isSuccess()) {
                answer.complete(outcome.get());
              } else {
                answer.completeExceptionally(outcome.failed().get());
              }
              return null;
            },
            ExecutionContext.parasitic$.MODULE$);
    return answer;
  }
}
