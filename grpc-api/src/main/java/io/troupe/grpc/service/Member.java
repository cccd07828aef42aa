package io.troupe.grpc.service;

import io.troupe.grpc.api.ResponseHeader;
import io.troupe.protocol.LeaseCommand;
import io.troupe.protocol.MemberStatus;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.StateReader;
import io.troupe.protocol.WatchCommand;
import java.util.concurrent.Executor;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Scheduler;

/**
 * The member as its gateway sees it.
 *
 * @param reads where reads run, beside everything else
 */
public record Member(
    MemberStatus status,
    StateReader state,
    ActorRef<RaftCommand> raft,
    ActorRef<LeaseCommand> lease,
    ActorRef<WatchCommand> watch,
    Executor reads,
    Scheduler scheduler) {

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
