package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import java.util.List;
import org.jspecify.annotations.Nullable;

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

  /** The process was paused for an election timeout or longer. Nothing to do but for a leader. */
  void resumed() {}

  /**
   * A message of the current term, or a granted pre-vote; {@code RequestVote}, {@code Removed} and
   * refusals never come here.
   */
  abstract void receive(NodeId from, PeerMessage message);

  /** Not empty. */
  abstract void propose(List<Proposal> batch);

  abstract void proposeConfChange(ConfProposal proposal);

  abstract void requestRead(long readId);

  /**
   * The disk has caught up further; {@link RaftLog#stable} and {@link PendingPersists#durableTerm}
   * tell how far.
   */
  abstract void durable();

  /** The input is over but for its effects; the membership may have changed by it. */
  void settle() {}

  /** True if entries wait to share a message with what comes. */
  boolean hasDelayedAppends() {
    return false;
  }

  /** Entries that wait go now. */
  void flushDelayedAppends() {}

  /** Asked of the leader only. */
  void transferLeadership(NodeId to) {
    core.effects.transferRefused(to, Refusal.NOT_LEADER);
  }

  /** Nothing to pass on, but for a leader. */
  void handOver() {}

  /** Too late, but for a leader. */
  void snapshotSent(NodeId to, long transfer, long index, boolean ok) {}

  /** Too late, but for a leader. */
  void logRead(NodeId to, long from, List<Entry> entries) {}

  /** Known to a leader only. */
  @Nullable ReplicationStatus replicationStatus() {
    return null;
  }

  /** True for what only the leader of a term says. */
  static boolean isFromLeader(PeerMessage message) {
    return message instanceof PeerMessage.Append
        || message instanceof PeerMessage.Heartbeat
        || message instanceof PeerMessage.Committed
        || message instanceof PeerMessage.InstallSnapshot
        || message instanceof PeerMessage.TimeoutNow;
  }
}
