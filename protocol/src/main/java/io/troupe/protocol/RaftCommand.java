package io.troupe.protocol;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.MemoryBudget;
import io.troupe.model.NodeId;
import io.troupe.model.RequestId;
import io.troupe.raft.ConfProposal;
import io.troupe.raft.PeerMessage;
import io.troupe.raft.Proposal;
import io.troupe.raft.SnapshotMark;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Messages to the raft actor. */
public sealed interface RaftCommand {
  /**
   * Proposes an operation.
   *
   * @param proposal its id is also part of its operation, encoded by {@link
   *     io.troupe.protocol.codec.OperationCodec}
   * @param replyTo receives one reply, from the apply actor or a refusal; none if the outcome stays
   *     unknown
   * @param response counts the records of the reply; null if the reply needs none. Its owner closes
   *     it; after that no records are gathered
   */
  record Propose(
      Proposal proposal, ReplyTo<ProposeReply> replyTo, MemoryBudget.@Nullable Share response)
      implements RaftCommand {
    /** Without a trace, and without records in the reply. */
    public Propose(RequestId id, Bytes operation, ReplyTo<ProposeReply> replyTo) {
      this(new Proposal(id, operation), replyTo, null);
    }
  }

  /**
   * Proposes a membership change.
   *
   * @param proposal checked against the applied state whose membership is its basis
   * @param replyTo receives one reply: Applied when the change is complete (for the removal of a
   *     voter, with its last entry); NotProposed with TOO_MANY_REQUESTS if another change is in
   *     progress or was faster: check again and retry. No reply if the outcome stays unknown
   */
  record ProposeConfChange(ConfProposal proposal, ReplyTo<ProposeReply> replyTo)
      implements RaftCommand {}

  /**
   * Transfers the leadership; only a leader can.
   *
   * @param replyTo receives a reply when this member knows the outcome; none if no member becomes
   *     leader
   */
  record TransferLeadership(NodeId to, ReplyTo<TransferReply> replyTo) implements RaftCommand {}

  /**
   * Before a clean stop: a leader transfers leadership to the best prepared voter.
   *
   * @param replyTo receives a reply immediately if this member does not lead, otherwise when it no
   *     longer leads or the transfer failed
   */
  record HandOver(ReplyTo<TransferReply> replyTo) implements RaftCommand {}

  /** Queries the replication status; the reply is empty if this member does not lead. */
  record GetReplication(ReplyTo<ReplicationReply> replyTo) implements RaftCommand {}

  /**
   * Proposes an operation that only the leader of one term may make, because its knowledge of the
   * time is outdated when another member leads.
   *
   * @param term the term; if this member does not lead in it now, the refusal is NOT_LEADER, and
   *     the proposal is in no log
   * @param replyTo as for {@link Propose}
   */
  record ProposeInTerm(long term, Proposal proposal, ReplyTo<ProposeReply> replyTo)
      implements RaftCommand {}

  /**
   * Confirms that this member still leads in {@code term}.
   *
   * @param supporter a member whose term was this one after the caller's clients sent their
   *     requests, which counts as its confirmation; NONE if there is none
   * @param replyTo receives exactly one reply: Ready when a quorum confirmed it after this message
   *     arrived and the state has applied everything committed until then, else Failed
   */
  record ConfirmLeadership(long term, NodeId supporter, ReplyTo<ReadReply> replyTo)
      implements RaftCommand {
    /** Without a supporter. */
    public ConfirmLeadership(long term, ReplyTo<ReadReply> replyTo) {
      this(term, NodeId.NONE, replyTo);
    }
  }

  /** Requests a read index; the reply is sent when the state has applied it. */
  record ReadIndex(ReplyTo<ReadReply> replyTo) implements RaftCommand {}

  /**
   * A message of another member.
   *
   * @param handled run by the receiver after it handled the message; until then the message counts
   *     as unread
   */
  record FromPeer(NodeId from, PeerMessage message, Runnable handled) implements RaftCommand {
    /** A message that is not counted. */
    public FromPeer(NodeId from, PeerMessage message) {
      this(from, message, () -> {});
    }
  }

  /**
   * Digest of another member's state. Forwarded to the apply actor if this member follows the
   * sender in the term of the digest, else ignored: the digest of a former member, of a former
   * leader or of another history of the cluster is not comparable.
   *
   * @param handled as in {@link FromPeer}; run by the last receiver of the digest
   */
  record PeerDigest(NodeId from, PeerPayload.StateDigest digest, Runnable handled)
      implements RaftCommand {}

  /** The write of this number and all writes before it are durable. */
  record Durable(long number) implements RaftCommand {}

  /** The state has applied everything up to {@code index}, durable or not. */
  record Applied(long index) implements RaftCommand {}

  /** A durable snapshot covers everything up to {@code index}. */
  record SnapshotTaken(long index) implements RaftCommand {}

  /** Entries that one follower lacks and that were not in memory; empty if they are compacted. */
  record LogRead(NodeId to, long from, List<Entry> entries) implements RaftCommand {}

  /**
   * The transfer of a snapshot to a follower finished.
   *
   * @param transfer number of the transfer, from {@link SnapshotCommand.Send}
   */
  record SnapshotSent(NodeId to, long transfer, long index, boolean ok) implements RaftCommand {}

  /**
   * A snapshot of another member was received and is durable here.
   *
   * @param from the leader that sent it
   * @param term term of that leader when the transfer started
   */
  record SnapshotReceived(NodeId from, long term, SnapshotMark mark) implements RaftCommand {}

  /** Internal messages: timers and adapted replies. */
  non-sealed interface Private extends RaftCommand {}
}
