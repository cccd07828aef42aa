package io.troupe.server;

import io.troupe.grpc.error.GrpcErrors;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.metrics.RaftMetrics;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.protocol.ClusterView;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.RefusedException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** MemberPromote (M8) on the leader, which alone knows the progress of a learner. */
final class Promotion {
  private static final Duration APPLY_WAIT = Duration.ofSeconds(1);
  private static final Duration PAUSE = Duration.ofMillis(50);

  /** Refusals of the leader that are final for the follower that forwarded the call. */
  private static final Set<Refusal> FINAL =
      Set.of(Refusal.MEMBER_NOT_FOUND, Refusal.NOT_A_LEARNER, Refusal.LEARNER_NOT_READY);

  private final Member member;
  private final GatewaySettings settings;
  private final ReadIndexBatcher reads;
  private final MembershipChanges changes;
  private final LeaderClient leader;

  Promotion(
      Member member,
      GatewaySettings settings,
      ReadIndexBatcher reads,
      MembershipChanges changes,
      LeaderClient leader) {
    this.member = member;
    this.settings = settings;
    this.reads = reads;
    this.changes = changes;
    this.leader = leader;
  }

  /** Promotes a learner; runs on any member. */
  CompletionStage<ClusterView> promote(NodeId id, Duration limit) {
    return here(id, limit)
        .exceptionallyCompose(
            failure -> {
              Throwable cause =
                  failure instanceof CompletionException ? failure.getCause() : failure;
              if (cause instanceof RefusedException refused
                  && refused.reason() == Refusal.NOT_LEADER) {
                return forwarded(id, limit);
              }
              throw new CompletionException(cause);
            });
  }

  /** On the leader, which counts it; other members refuse with NOT_LEADER. */
  CompletionStage<ClusterView> here(NodeId id, Duration limit) {
    long committed = member.status().committed();
    return Retry.<Long>run(
            member,
            APPLY_WAIT,
            () ->
                new GrpcException(
                    GrpcStatus.UNAVAILABLE,
                    "etcdserver: request timed out, waiting for the applied index took too long"),
            attempts -> {
              long applied = member.status().applied();
              if (applied >= committed) {
                attempts.succeed(applied);
              } else {
                attempts.againAfter(settings.tick());
              }
            })
        .thenCompose(applied -> changes.promote(id, limit))
        .whenComplete((view, failure) -> count(failure));
  }

  private void count(@Nullable Throwable failure) {
    RaftMetrics metrics = member.metrics().raft();
    if (failure == null) {
      metrics.promoted();
      return;
    }
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    if (!(cause instanceof RefusedException refused)) {
      metrics.notPromoted(
          cause instanceof GrpcException ended ? ended.status().message() : "internal error");
    } else if (refused.reason() != Refusal.NOT_LEADER) {
      metrics.notPromoted(reason(refused.reason()));
    }
  }

  /** etcd's name of the reason in metrics, which differs from the text for clients. */
  private static String reason(Refusal refusal) {
    return switch (refusal) {
      case MEMBER_NOT_FOUND -> "membership: ID not found";
      case NOT_A_LEARNER -> "membership: can only promote a learner member";
      default -> GrpcErrors.of(refusal).message();
    };
  }

  private CompletionStage<ClusterView> forwarded(NodeId id, Duration limit) {
    Duration wait = settings.requestTimeout();
    return Retry.<Boolean>run(
            member,
            limit.compareTo(wait) < 0 ? limit : wait,
            () -> new RefusedException(Refusal.TIMED_OUT),
            attempts ->
                leader
                    .ask(new PeerQuery.PromoteQuery(id), attempts.timeLeft(wait))
                    .whenComplete((reply, failure) -> handle(attempts, reply, failure)))
        // A change that the leader applied is visible here only when it is applied here.
        .thenCompose(
            done ->
                reads.linearizable(ReadIndexBatcher.Kind.POINT, () -> member.state().cluster()));
  }

  private static void handle(Retry<Boolean> attempts, PeerReply reply, Throwable failure) {
    if (failure == null && reply instanceof PeerReply.Done) {
      attempts.succeed(true);
    } else if (failure == null
        && reply instanceof PeerReply.Refused refused
        && FINAL.contains(refused.reason())) {
      attempts.fail(new RefusedException(refused.reason()));
    } else {
      attempts.againAfter(PAUSE);
    }
  }
}
