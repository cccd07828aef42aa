package io.troupe.server;

import io.troupe.grpc.api.ResponseHeader;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.EtcdVersion;
import io.troupe.model.MemoryBudget;
import io.troupe.protocol.LeaseCommand;
import io.troupe.protocol.MemberStatus;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadExecutors;
import io.troupe.protocol.StateReader;
import io.troupe.protocol.WatchCommand;
import java.util.function.Supplier;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Scheduler;

/**
 * The member as its gateway sees it. Its actors may be replaced while it runs (when another
 * member's snapshot replaces its state), so an address is read before each use.
 *
 * @param raftActor the current raft actor
 * @param leaseActor the current lease actor
 * @param watchHub the current watch hub
 * @param reads executors of reads
 * @param replies of its actors
 * @param metrics metrics of this member
 * @param clientMemory memory budget of client connections
 * @param serverVersion version of etcd's API that this member serves (V6)
 */
public record Member(
    MemberStatus status,
    StateReader state,
    Supplier<ActorRef<RaftCommand>> raftActor,
    Supplier<ActorRef<LeaseCommand>> leaseActor,
    Supplier<ActorRef<WatchCommand>> watchHub,
    ReadExecutors reads,
    Scheduler scheduler,
    PendingReplies replies,
    MemberMetrics metrics,
    MemoryBudget clientMemory,
    EtcdVersion serverVersion) {

  /** The current raft actor. */
  public ActorRef<RaftCommand> raft() {
    return raftActor.get();
  }

  /** The current lease actor. */
  public ActorRef<LeaseCommand> lease() {
    return leaseActor.get();
  }

  /** The current watch hub. */
  public ActorRef<WatchCommand> watch() {
    return watchHub.get();
  }

  /** True if this member is a learner (2.12). */
  public boolean isLearner() {
    return state.cluster().isLearner(status.memberId());
  }

  /** A full header (R6) with {@code revision}. */
  public ResponseHeader header(long revision) {
    return ResponseHeader.newBuilder()
        .setClusterId(status.clusterId())
        .setMemberId(status.memberId().value())
        .setRevision(revision)
        .setRaftTerm(status.term())
        .build();
  }

  /** A full header with the current revision. */
  public ResponseHeader header() {
    return header(state.revision());
  }
}
