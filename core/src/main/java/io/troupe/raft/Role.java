package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a member handles its inputs in one role. A role requests its own end from {@link RaftCore}
 * and then returns immediately; it never changes role or term by itself.
 */
abstract sealed class Role permits FollowerRole, PreCandidateRole, CandidateRole, LeaderRole {
  final RaftCore core;

  Role(RaftCore core) {
    this.core = core;
  }

  abstract RaftRole kind();

  /** The role starts; term, vote and leader are already set. */
  abstract void enter();

  /** The role ends. */
  abstract void leave();

  abstract void tick();

  /** The process was paused for an election timeout or longer. Only a leader must react. */
  void resumed() {}

  /**
   * Handles a message of the current term, or a granted pre-vote; {@code RequestVote}, {@code
   * Removed} and refusals are handled before.
   */
  abstract void receive(NodeId from, PeerMessage message);

  /** The batch is not empty. */
  abstract void propose(List<Proposal> batch);

  abstract void proposeConfChange(ConfProposal proposal);

  abstract void requestRead(long readId);

  /** As {@link RaftCore#requestRead(long, NodeId)}. */
  void requestRead(long readId, NodeId supporter) {
    requestRead(readId);
  }

  /**
   * More writes became durable; see {@link RaftLog#stable} and {@link PendingPersists#durableTerm}.
   */
  abstract void durable();

  /** The input is handled except for its effects; it may have changed the membership. */
  void completeInput() {}

  /** True if entries are delayed, to share a message with later entries. */
  boolean hasDelayedAppends() {
    return false;
  }

  /** Sends delayed entries. */
  void flushDelayedAppends() {}

  /** Only a leader can do this. */
  void transferLeadership(NodeId to) {
    core.effects.transferRefused(to, Refusal.NOT_LEADER);
  }

  /** Does nothing unless this member leads. */
  void handOver() {}

  /** Ignored unless this member leads. */
  void snapshotSent(NodeId to, long transfer, long index, boolean ok) {}

  /** Ignored unless this member leads. */
  void logRead(NodeId to, long from, List<Entry> entries) {}

  /** Highest index that every follower stores. Only a leader has followers. */
  long storedByAll() {
    return Long.MAX_VALUE;
  }

  /** Known only to a leader. */
  @Nullable ReplicationStatus replicationStatus() {
    return null;
  }

  /** True for messages that only the leader of a term sends. */
  static boolean isFromLeader(PeerMessage message) {
    return message instanceof PeerMessage.Append
        || message instanceof PeerMessage.Heartbeat
        || message instanceof PeerMessage.Committed
        || message instanceof PeerMessage.InstallSnapshot
        || message instanceof PeerMessage.TimeoutNow;
  }
}
