package io.troupe.server;

import io.troupe.model.NodeId;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import org.apache.pekko.actor.Cancellable;
import scala.concurrent.ExecutionContext;

/** Waits for a leader, with a time limit. */
final class LeaderWait {
  private LeaderWait() {}

  /**
   * Completes with the leader on the read dispatcher; fails with a TimeoutException if none is
   * known within that time.
   *
   * @param pause delay if the known leader has just refused because it no longer leads
   */
  static CompletionStage<NodeId> await(Member member, Duration atMost, Duration pause) {
    NodeId stale = member.status().leader();
    if (stale.isNone()) {
      return known(member, atMost);
    }
    CompletableFuture<NodeId> known = new CompletableFuture<>();
    member
        .scheduler()
        .scheduleOnce(pause, () -> known.complete(stale), ExecutionContext.parasitic$.MODULE$);
    return within(member, atMost, known);
  }

  /** Completes as soon as a leader is known; dispatcher and failure as in {@link #await}. */
  static CompletionStage<NodeId> known(Member member, Duration atMost) {
    return within(member, atMost, member.status().awaitLeader());
  }

  private static CompletionStage<NodeId> within(
      Member member, Duration atMost, CompletableFuture<NodeId> known) {
    Duration left = atMost.isNegative() ? Duration.ZERO : atMost;
    Cancellable end =
        member
            .scheduler()
            .scheduleOnce(
                left,
                () -> known.completeExceptionally(new TimeoutException("no leader")),
                ExecutionContext.parasitic$.MODULE$);
    return known.whenCompleteAsync((leader, failure) -> end.cancel(), member.reads().points());
  }
}
