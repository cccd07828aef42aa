package io.troupe.grpc.service;

import io.troupe.model.NodeId;
import io.troupe.protocol.PeerAnswer;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.RaftFacts;
import io.troupe.protocol.ReplicationReply;
import io.troupe.raft.ReplicationStatus;
import io.troupe.raft.membership.MembershipRules.Liveness;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Facts of the raft room if it leads, else of the leader. etcd asks the connections of the member
 * that got the request; here the leader's are asked, because they are the ones that a quorum is
 * made of.
 */
final class LocalRaftFacts implements RaftFacts {
  /** How long a connection must have held (M5). */
  private static final Duration STEADY = Duration.ofSeconds(5);

  private final Member member;
  private final GatewaySettings settings;
  private final LeaderCalls leader;

  LocalRaftFacts(Member member, GatewaySettings settings, LeaderCalls leader) {
    this.member = member;
    this.settings = settings;
    this.leader = leader;
  }

  @Override
  public CompletionStage<@Nullable ReplicationStatus> replication() {
    return Ask.ask(
            member.raft(),
            RaftCommand.GetReplication::new,
            settings.requestTimeout(),
            member.scheduler())
        .thenApply(ReplicationReply::status);
  }

  @Override
  public CompletionStage<Liveness> liveness() {
    return replication()
        .thenCompose(
            status ->
                status != null
                    ? CompletableFuture.completedFuture(liveness(status))
                    : leader
                        .ask(PeerQuery.LivenessQuery.INSTANCE, settings.electionTimeout())
                        .thenApply(this::ofLeader))
        .exceptionally(unknown -> alone());
  }

  private Liveness liveness(ReplicationStatus status) {
    return status.liveness((int) (STEADY.toNanos() / settings.tick().toNanos()));
  }

  private Liveness ofLeader(PeerAnswer answer) {
    return answer instanceof PeerAnswer.Connected connected ? connected.liveness() : alone();
  }

  private Liveness alone() {
    Set<NodeId> self = Set.of(member.status().memberId());
    return new Liveness(self, self);
  }
}
