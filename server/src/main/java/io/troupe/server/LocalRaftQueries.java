package io.troupe.server;

import io.troupe.model.NodeId;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.RaftQueries;
import io.troupe.protocol.ReplicationReply;
import io.troupe.raft.ReplicationStatus;
import io.troupe.raft.membership.MembershipRules.Liveness;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import scala.concurrent.ExecutionContext;

/**
 * Status of the raft actor if it leads, otherwise of the leader. etcd checks the connections of the
 * member that received the request. Here the leader's connections are checked, because they form
 * the quorum.
 */
final class LocalRaftQueries implements RaftQueries {
  /** Minimum age of a connection (M5). */
  private static final Duration STEADY = Duration.ofSeconds(5);

  /**
   * A new leader has no replies of its followers for some milliseconds; it waits up to this number
   * of ticks.
   */
  static final int MAX_WAITS = 3;

  private final Member member;
  private final GatewaySettings settings;
  private final LeaderClient leader;

  LocalRaftQueries(Member member, GatewaySettings settings, LeaderClient leader) {
    this.member = member;
    this.settings = settings;
    this.leader = leader;
  }

  @Override
  public CompletionStage<@Nullable ReplicationStatus> replication() {
    return member
        .replies()
        .ask(member.raft(), RaftCommand.GetReplication::new, settings.requestTimeout())
        .thenApply(ReplicationReply::status);
  }

  @Override
  public CompletionStage<Liveness> liveness() {
    return liveness(MAX_WAITS).exceptionally(unknown -> alone());
  }

  private CompletionStage<Liveness> liveness(int waits) {
    return replication()
        .thenCompose(
            status -> {
              if (status == null) {
                return leader
                    .ask(PeerQuery.LivenessQuery.INSTANCE, settings.electionTimeout())
                    .thenApply(this::ofLeader);
              }
              return waits > 0 && awaitsReplies(status)
                  ? afterTick().thenCompose(later -> liveness(waits - 1))
                  : CompletableFuture.completedFuture(liveness(status));
            });
  }

  /** Whether a member with a steady connection has not replied to this leader. */
  private boolean awaitsReplies(ReplicationStatus status) {
    return status.peers().entrySet().stream()
        .anyMatch(peer -> peer.getValue().connectedTicks() == 0 && isSteady(peer.getKey()));
  }

  private CompletionStage<Void> afterTick() {
    CompletableFuture<Void> passed = new CompletableFuture<>();
    member
        .scheduler()
        .scheduleOnce(
            settings.tick(), () -> passed.complete(null), ExecutionContext.parasitic$.MODULE$);
    return passed;
  }

  private boolean isSteady(NodeId peer) {
    return member.status().isConnectedSince(peer, System.nanoTime() - STEADY.toNanos());
  }

  /**
   * The leader counts from its election; a connection that is older and active counts from its
   * start.
   */
  private Liveness liveness(ReplicationStatus status) {
    Liveness sinceElection = status.liveness((int) (STEADY.toNanos() / settings.tick().toNanos()));
    Set<NodeId> steady = new TreeSet<>(sinceElection.steady());
    sinceElection.connected().stream().filter(this::isSteady).forEach(steady::add);
    return new Liveness(sinceElection.connected(), steady);
  }

  private Liveness ofLeader(PeerReply reply) {
    return reply instanceof PeerReply.Connected connected ? connected.liveness() : alone();
  }

  private Liveness alone() {
    Set<NodeId> self = Set.of(member.status().memberId());
    return new Liveness(self, self);
  }
}
