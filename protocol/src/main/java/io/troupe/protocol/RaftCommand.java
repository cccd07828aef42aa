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
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;

/** What the raft actor takes. */
public sealed interface RaftCommand {
  /**
   * Proposes an operation.
   *
   * @param proposal its id also stands inside its operation, which {@link
   *     io.troupe.protocol.codec.OperationCodec} encoded
   * @param replyTo receives one reply, from the apply actor or a refusal; none when the outcome
   *     stays unknown
   * @param response counts the records of the reply; null if the reply needs none. Its owner closes
   *     it; once it is closed no records are gathered
   */
  record Propose(
      Proposal proposal, ActorRef<ProposeReply> replyTo, MemoryBudget.@Nullable Share response)
      implements RaftCommand {
    /** Without a trace, and without records in the reply. */
    public Propose(RequestId id, Bytes operation, ActorRef<ProposeReply> replyTo) {
      this(new Proposal(id, operation), replyTo, null);
    }
  }

  /**
   * Proposes a change of the membership.
   *
   * @param proposal checked against the applied state whose membership it names as its basis
   * @param replyTo told once: with Applied when the change is complete, for the removal of a voter
   *     with its last entry; with NotProposed TOO_MANY_REQUESTS if another change is in progress or
   *     came first: check again and repeat. Never when the outcome stays unknown
   */
  record ProposeConfChange(ConfProposal proposal, ActorRef<ProposeReply> replyTo)
      implements RaftCommand {}

  /**
   * Transfers the leadership; only a leader can.
   *
   * @param replyTo told once this member knows the outcome; never if nobody comes to lead
   */
  record TransferLeadership(NodeId to, ActorRef<TransferReply> replyTo) implements RaftCommand {}

  /**
   * Before a clean end: a leader passes on to whoever is best prepared.
   *
   * @param replyTo told at once if this member does not lead, else when it has ceased to, or cannot
   *     pass on
   */
  record HandOver(ActorRef<TransferReply> replyTo) implements RaftCommand {}

  /** Asks what this member, if it leads, knows of the others. */
  record GetReplication(ActorRef<ReplicationReply> replyTo) implements RaftCommand {}

  /**
   * Proposes an operation that only the leader of one term may make: what it knows of the time may
   * be out of date as soon as another leads.
   *
   * @param term the term; if this member does not lead in it now, the refusal is NOT_LEADER, and
   *     the proposal is in no log
   * @param replyTo as for {@link Propose}
   */
  record ProposeInTerm(long term, Proposal proposal, ActorRef<ProposeReply> replyTo)
      implements RaftCommand {}

  /**
   * Asks whether this member still leads in {@code term}.
   *
   * @param replyTo told exactly once: with Ready when a quorum has confirmed it after this came in
   *     and the state holds all that was committed then, else with Failed
   */
  record ConfirmLeadership(long term, ActorRef<ReadReply> replyTo) implements RaftCommand {}

  /** Asks for a read index; answered once the state has applied it. */
  record ReadIndex(ActorRef<ReadReply> replyTo) implements RaftCommand {}

  /**
   * A message of another member.
   *
   * @param handled run by the receiver when it has handled the message: it counts until then
   */
  record FromPeer(NodeId from, PeerMessage message, Runnable handled) implements RaftCommand {
    /** A message that is not counted. */
    public FromPeer(NodeId from, PeerMessage message) {
      this(from, message, () -> {});
    }
  }

  /**
   * Another member says what its state did. Passed on to the apply actor if this member follows it
   * in the term it names, else ignored: a member that left, a former leader, or one of another
   * history of the cluster is no measure.
   *
   * @param handled as in {@link FromPeer}; run by whoever is the last to receive the digest
   */
  record PeerDigest(NodeId from, PeerPayload.StateDigest digest, Runnable handled)
      implements RaftCommand {}

  /** The write of this number and all before it are durable. */
  record Durable(long number) implements RaftCommand {}

  /** The state holds all up to {@code index}, durable or not. */
  record Applied(long index) implements RaftCommand {}

  /** A durable snapshot covers all up to {@code index}. */
  record SnapshotTaken(long index) implements RaftCommand {}

  /** Entries that one follower lacks and that had left memory; empty if they are gone. */
  record LogRead(NodeId to, long from, List<Entry> entries) implements RaftCommand {}

  /**
   * The transfer of a snapshot to a follower ended.
   *
   * @param transfer number of the transfer, from {@link SnapshotCommand.Send}
   */
  record SnapshotSent(NodeId to, long transfer, long index, boolean ok) implements RaftCommand {}

  /**
   * A snapshot came from another member, and is durable here.
   *
   * @param from the leader that sent it
   * @param term term of that leader when the transfer began
   */
  record SnapshotReceived(NodeId from, long term, SnapshotMark mark) implements RaftCommand {}

  /** Only the owner's timers and adapted replies. */
  non-sealed interface Private extends RaftCommand {}
}
