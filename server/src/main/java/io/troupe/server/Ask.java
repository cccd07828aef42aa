package io.troupe.server;

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
 * Sends a message to an actor and returns its reply. Pekko's Java ask returns a stage whose
 * dependents run on {@link CompletableFuture}'s default pool. With two cores or fewer that is a new
 * thread for each: ten times the measured cost of a Put. The stage returned here runs its
 * dependents on the thread that delivers the reply.
 */
final class Ask {
  private Ask() {}

  /**
   * Sends the message that {@code message} creates from the reply address.
   *
   * @return the reply; fails with a TimeoutException when none arrives in time, although the actor
   *     may still execute the message
   */
  static <M, R> CompletableFuture<R> ask(
      RecipientRef<M> actor,
      Function<ActorRef<R>, M> message,
      Duration timeout,
      Scheduler scheduler) {
    CompletableFuture<R> reply = new CompletableFuture<>();
    new AskPattern.Askable<>(actor)
        .<R>ask(message::apply, Timeout.create(timeout), scheduler)
        .onComplete(
            outcome -> {
              if (outcome.isSuccess()) {
                reply.complete(outcome.get());
              } else {
                reply.completeExceptionally(outcome.failed().get());
              }
              return null;
            },
            ExecutionContext.parasitic$.MODULE$);
    return reply;
  }
}
