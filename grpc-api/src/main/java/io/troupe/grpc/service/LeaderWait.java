package io.troupe.grpc.service;

import io.troupe.model.NodeId;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import org.apache.pekko.actor.Cancellable;
import scala.concurrent.ExecutionContext;

/** Waits for a leader, not forever. */
final class LeaderWait {
  private LeaderWait() {}

  /**
   * The leader, told on the read dispatcher; fails with a TimeoutException if none is known within
   * that time.
   *
   * @param pause if a leader is known that just refused because it is none any more
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

  /** The leader as soon as one is known, told and failing as for the other. */
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
