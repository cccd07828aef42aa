package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.raft.membership.Membership;
import java.util.List;

/**
 * What the shell of a {@link RaftCore} shall do. All lists are immutable. An implementation never
 * calls the core from inside one of these methods: it queues.
 */
public interface RaftEffects {
  /**
   * Appends, makes durable, then sends. Work of several calls may be forced together, but in the
   * order of the calls; a message of {@code messagesAfterPersist} leaves when everything of this and of all
   * earlier calls is durable. Each call is answered by {@link RaftCore#persisted}, calls without
   * entries too; one answer may stand for several.
   *
   * @param number counts the calls of this method and of {@link #installSnapshot} in this run
   * @param state replaces what was stored before
   * @param entries contiguous; the first one drops every earlier entry at its index and above; may
   *     be empty
   * @param messagesAfterPersist messages that promise durability, in the order to send them
   */
  void persist(long number, HardState state, List<Entry> entries, List<Outgoing> messagesAfterPersist);

  /**
   * Replaces log and state by a snapshot whose content is at hand, makes that durable, then sends.
   * Takes its turn among the calls of {@link #persist} and is answered like one, when log and state
   * are both replaced for good. The state machine takes its turn behind what was handed to it
   * before; that is answered by {@link RaftCore#applied}. A crash in between leaves the old log and
   * state, or the new ones.
   *
   * @param number as with persist
   * @param before is stored first, while the old log is in place: the new term and vote, with the
   *     commit index of the old log. The log's entries above that index may contradict the
   *     snapshot, so nothing may call them committed
   * @param state is stored last, when the log restarts after the snapshot
   * @param mark the log has no entries now, and continues behind the mark's index
   * @param messagesAfterPersist as with persist
   */
  void installSnapshot(
      long number, HardState before, HardState state, SnapshotMark mark, List<Outgoing> messagesAfterPersist);

  /** Sends now. May be lost, late, repeated or overtaken; the core repairs that. */
  void send(NodeId to, PeerMessage message);

  /**
   * Passes on entries for good: committed, and durable on this member, each index once and in
   * order. The shell answers with {@link RaftCore#applied}; without that answer no more than some
   * batches come.
   */
  void apply(List<Entry> committed);

  /** The read may be served as soon as {@code readIndex} is applied here. */
  void releaseRead(long readId, long readIndex);

  /** The read will not be released. Asking again is safe. */
  void rejectRead(long readId, Refusal reason);

  /** The proposal is in no log and never will be. Unknown ids and repetitions are to be ignored. */
  void reject(RequestId id, Refusal reason);

  /**
   * A follower lacks entries that are gone. Brings a durable snapshot to it, and has {@link
   * PeerMessage.InstallSnapshot} passed on there. Answered once by {@link RaftCore#snapshotSent}.
   *
   * @param to who needs it
   * @param transfer number of the transfer, unique in this run of the member; the report of its end
   *     names it, because an earlier transfer to the same member may end later
   * @param term term to put into the message
   * @param atLeast the snapshot covers at least this index; if there is none such, one is made
   */
  void sendSnapshot(NodeId to, long transfer, long term, long atLeast);

  /**
   * Reads entries that have left memory. Answered once by {@link RaftCore#logRead}, with as many as
   * are at hand: at least one if any can be had.
   *
   * @param to for whom; there is at most one question in progress for each
   * @param from first index, inclusive
   * @param until index after the last one wanted; greater than {@code from}
   * @param maxBytes stop when the data is about this long
   */
  void readLog(NodeId to, long from, long until, long maxBytes);

  /**
   * The leadership stays, or goes elsewhere: NOT_LEADER or BAD_LEADER_TRANSFEREE at once, TIMED_OUT
   * if the target did not take over in time or another transfer took the place. A transfer that
   * works is told by {@link #roleChanged}.
   */
  void transferRefused(NodeId to, Refusal reason);

  /** A membership took effect: its entry is committed, or it came with a snapshot. */
  void membershipChanged(Membership membership);

  /**
   * This member was removed for good. Told once, when the entry that says so is committed, if it
   * came; that may not be passed on yet. The process shall end; until then the core is a follower
   * that never campaigns.
   */
  void removed();

  /** Role, term or leader changed. Told once for each input, after its other effects. */
  void roleChanged(RaftStatus status);
}
