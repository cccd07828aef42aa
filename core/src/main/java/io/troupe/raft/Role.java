package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.NodeId;
import java.util.List;

/**
 * How a member answers its inputs while it has one role. A role tells {@link RaftCore} when it
 * should end and then returns at once; it never changes role or term by itself.
 */
abstract sealed class Role permits FollowerRole, PreCandidateRole, CandidateRole, LeaderRole {
  final RaftCore core;

  Role(RaftCore core) {
    this.core = core;
  }

  abstract RaftRole kind();

  /** The role begins; term, vote and leader are set already. */
  abstract void enter();

  /** The role ends. */
  abstract void leave();

  abstract void tick();

  /**
   * A message of the current term, or a granted pre-vote; {@code RequestVote} and refusals never
   * come here.
   */
  abstract void receive(NodeId from, PeerMessage message);

  /** Not empty. */
  abstract void propose(Entry.Kind kind, List<Proposal> batch);

  abstract void requestRead(long readId);

  /**
   * The disk has caught up further; {@link RaftLog#stable} and {@link PendingPersists#durableTerm}
   * tell how far.
   */
  abstract void durable();

  /** True for what only the leader of a term says. */
  static boolean isFromLeader(PeerMessage message) {
    return message instanceof PeerMessage.Append
        || message instanceof PeerMessage.Heartbeat
        || message instanceof PeerMessage.InstallSnapshot;
  }
}
