package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.raft.membership.Membership;
import java.util.List;

/**
 * The effects of a {@link RaftCore} that the raft actor executes as they are. All lists are
 * immutable. An implementation never calls the core or the loop from inside one of these methods:
 * it queues.
 */
public interface RaftActorEffects {
  /**
   * Appends, makes durable, then sends. Several calls may share a sync, but in the order of the
   * calls; a message of {@code messagesAfterPersist} is sent when everything of this and of all
   * earlier calls is durable. Each call is completed by {@link RaftCore#persisted}, also a call
   * without entries; one completion may cover several calls.
   *
   * @param number counts the calls of this method and of {@link #installSnapshot} in this run
   * @param state replaces the stored state
   * @param entries contiguous; the first one replaces every earlier entry at its index and above;
   *     may be empty
   * @param messagesAfterPersist messages that require durability, in the order to send them
   */
  void persist(
      long number, HardState state, List<Entry> entries, List<Outgoing> messagesAfterPersist);

  /**
   * Replaces log and state by a snapshot whose content is available, makes that durable, then
   * sends. Executed in order with the calls of {@link #persist} and completed like one, when log
   * and state are both replaced. The state machine replaces its state after the entries that it
   * received before; that is completed by {@link RaftCore#applied}. A crash in between leaves the
   * old log and state, or the new ones.
   *
   * @param number as in persist
   * @param before is stored first, while the old log exists: the new term and vote, with the commit
   *     index of the old log. The log's entries above that index may contradict the snapshot, so
   *     they must not be marked committed
   * @param state is stored last, when the log restarts after the snapshot
   * @param mark the log has no entries now, and continues after the mark's index
   * @param messagesAfterPersist as in persist
   */
  void installSnapshot(
      long number,
      HardState before,
      HardState state,
      SnapshotMark mark,
      List<Outgoing> messagesAfterPersist);

  /** Sends immediately. May be lost, delayed, repeated or reordered; the core repairs that. */
  void send(NodeId to, PeerMessage message);

  /**
   * Applies entries: committed, and durable on this member, each index once and in order. The shell
   * completes them with {@link RaftCore#applied}; without that, only a few batches are sent.
   */
  void apply(List<Entry> committed);

  /** The proposal is in no log and never will be. Ignore unknown ids and repetitions. */
  void reject(RequestId id, Refusal reason);

  /**
   * A follower lacks compacted entries. Transfers a durable snapshot to it and passes {@link
   * PeerMessage.InstallSnapshot} to its Raft. Completed once by {@link RaftCore#snapshotSent}.
   *
   * @param to the follower
   * @param transfer number of the transfer, unique in this run of the member; the completion names
   *     it, because an earlier transfer to the same member may finish later
   * @param term term for the message
   * @param atLeast the snapshot covers at least this index; if there is none, one is created
   */
  void sendSnapshot(NodeId to, long transfer, long term, long atLeast);

  /**
   * Reads entries that are no longer in memory. Completed once by {@link RaftCore#logRead}, with as
   * many as are available: at least one if there is any.
   *
   * @param to follower that needs them; at most one read is in progress for each
   * @param from first index, inclusive
   * @param until index after the last requested one; greater than {@code from}
   * @param maxBytes stop when the data has about this size
   */
  void readLog(NodeId to, long from, long until, long maxBytes);

  /**
   * The leadership transfer failed: NOT_LEADER or BAD_LEADER_TRANSFEREE immediately, TIMED_OUT if
   * the target did not become leader in time or another transfer replaced this one. A successful
   * transfer is reported by {@link #roleChanged}.
   */
  void transferRefused(NodeId to, Refusal reason);

  /** A membership took effect: its entry is committed, or it is part of a snapshot. */
  void membershipChanged(Membership membership);

  /**
   * This member was removed from the cluster. Called once, when the entry that removes it is
   * committed; that entry may not be applied yet. The process must stop; until then the core is a
   * follower that never campaigns.
   */
  void removed();

  /** Role, term or leader changed. Called once for each input, after its other effects. */
  void roleChanged(RaftStatus status);
}
