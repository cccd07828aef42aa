package io.troupe.grpc.service;

import io.troupe.grpc.api.ResponseHeader;
import io.troupe.metrics.MemberMetrics;
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
 * The member as its gateway sees it. Its actors may be replaced while it runs (when another member's
 * snapshot takes the place of its state), so an address is asked for each time it is used.
 *
 * @param raftActor where the raft actor is now
 * @param leaseActor where the lease actor is now
 * @param watchHub where the watch hub is now
 * @param reads where reads run, beside everything else
 * @param metrics what this member counts
 * @param clientMemory what clients may make this process hold
 */
public record Member(
    MemberStatus status,
    StateReader state,
    Supplier<ActorRef<RaftCommand>> raftActor,
    Supplier<ActorRef<LeaseCommand>> leaseActor,
    Supplier<ActorRef<WatchCommand>> watchHub,
    ReadExecutors reads,
    Scheduler scheduler,
    MemberMetrics metrics,
    MemoryBudget clientMemory) {

  /** The raft actor of now. */
  public ActorRef<RaftCommand> raft() {
    return raftActor.get();
  }

  /** The lease actor of now. */
  public ActorRef<LeaseCommand> lease() {
    return leaseActor.get();
  }

  /** The watch hub of now. */
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
