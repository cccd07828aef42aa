package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import java.util.List;

/**
 * Messages between members. Immutable. Every message contains the term of its sender (a pre-vote
 * the term of the election). Loss, delay, repetition and reordering of any message are harmless.
 */
public sealed interface PeerMessage {
  /**
   * Term of the sender; for a pre-vote request and a granted pre-vote, the term of the election.
   */
  long term();

  /**
   * Requests a vote, or, with {@code preVote}, whether a vote would be granted.
   *
   * @param term term of the vote
   * @param preVote true if the request changes no term
   * @param lastIndex last index of the sender's log
   * @param lastTerm term of that entry
   * @param transfer true if the leader itself requested the election: then it is not protected
   * @source Raft dissertation 3.4, 3.10, 9.6
   */
  record RequestVote(long term, boolean preVote, long lastIndex, long lastTerm, boolean transfer)
      implements PeerMessage {
    /** A request that no leader requested. */
    RequestVote(long term, boolean preVote, long lastIndex, long lastTerm) {
      this(term, preVote, lastIndex, lastTerm, false);
    }
  }

  /**
   * Reply to {@link RequestVote}.
   *
   * @param term term of the vote; of the replying member if it is refused
   * @param preVote as in the request
   * @param granted true if the vote is granted
   */
  record VoteReply(long term, boolean preVote, boolean granted) implements PeerMessage {}

  /**
   * Entries for a follower; without entries it checks that the logs agree at {@code prevIndex}.
   *
   * @param term term of the leader
   * @param prevIndex index before the first entry
   * @param prevTerm term of the leader's entry at prevIndex
   * @param entries contiguous from prevIndex + 1; may be empty
   * @param commit commit index of the leader; may be above these entries
   */
  record Append(long term, long prevIndex, long prevTerm, List<Entry> entries, long commit)
      implements PeerMessage {
    /** Copies the list. */
    public Append {
      entries = List.copyOf(entries);
    }
  }

  /**
   * Reply to {@link Append}.
   *
   * @param term term of the follower
   * @param rejected false: the follower's durable log equals the leader's up to {@code index}.
   *     True: it did not agree at {@code index}
   * @param index see rejected
   * @param hintIndex if rejected: the highest index at which the logs may agree, as far as the
   *     follower knows
   * @param hintTerm if rejected: term of the follower's entry there
   */
  record AppendReply(long term, boolean rejected, long index, long hintIndex, long hintTerm)
      implements PeerMessage {
    /** The logs agree up to {@code index}, and the follower's log is durable up to there. */
    static AppendReply matched(long term, long index) {
      return new AppendReply(term, false, index, 0, 0);
    }
  }

  /**
   * Reports the commit index to a follower if there is no append to carry it. Gets no reply;
   * ignored if the receiver's entry at {@code index} is not of {@code indexTerm}. Heartbeats repair
   * its loss.
   *
   * @param term term of the leader
   * @param index an index that is committed
   * @param indexTerm term of the leader's entry there
   */
  record Committed(long term, long index, long indexTerm) implements PeerMessage {}

  /**
   * Prevents an election timeout of a follower.
   *
   * @param term term of the leader
   * @param commit highest index that is committed and known to be in the receiver's log
   * @param readContext the read round that this heartbeat also confirms; 0 means none
   */
  record Heartbeat(long term, long commit, long readContext) implements PeerMessage {}

  /**
   * Reply to {@link Heartbeat}.
   *
   * @param term term of the follower
   * @param readContext as in the heartbeat
   */
  record HeartbeatReply(long term, long readContext) implements PeerMessage {}

  /**
   * A follower requests a read index.
   *
   * @param term term of the follower
   * @param context unique over all restarts of all followers; repeated in the reply
   */
  record ReadIndex(long term, long context) implements PeerMessage {}

  /**
   * Reply to {@link ReadIndex}, after a majority confirmed the leader after the request arrived.
   *
   * @param term term of the leader
   * @param context as in the request
   * @param index reads of that context may be served when this index is applied
   */
  record ReadIndexReply(long term, long context, long index) implements PeerMessage {}

  /**
   * Proposals that a follower forwards to the leader. Accepted at most once ({@code ReplayWindow}):
   * a number that was received before from the same {@code origin}, or that very many later ones
   * overtook, is ignored.
   *
   * @param term term in which the sender knew the leader; in another term the message is ignored
   * @param origin one run of the sender's process, drawn at random
   * @param sequence counts up within {@code origin}
   * @param proposals in order, not empty
   */
  record ForwardedProposals(long term, long origin, long sequence, List<Proposal> proposals)
      implements PeerMessage {
    /** Copies the list. */
    public ForwardedProposals {
      proposals = List.copyOf(proposals);
    }

    /** True if any of them belongs to a trace. */
    public boolean isTraced() {
      for (Proposal proposal : proposals) {
        if (proposal.trace() != null) {
          return true;
        }
      }
      return false;
    }
  }

  /**
   * A membership change that a follower forwards to the leader. Accepted at most once, by the same
   * numbers as {@link ForwardedProposals}.
   *
   * @param term term in which the sender knew the leader; in another term the message is ignored
   * @param origin one run of the sender's process, drawn at random
   * @param sequence counts up within {@code origin}
   * @param proposal the requested change
   */
  record ForwardedConfChange(long term, long origin, long sequence, ConfProposal proposal)
      implements PeerMessage {}

  /**
   * The leader refused forwarded proposals; they are in no log.
   *
   * @param term term of the leader
   * @param ids ids of the refused proposals
   * @param reason reason for the refusal
   */
  record ProposalsRejected(long term, List<RequestId> ids, Refusal reason) implements PeerMessage {
    /** Copies the list. */
    public ProposalsRejected {
      ids = List.copyOf(ids);
    }
  }

  /**
   * The content of a snapshot was received and checked. It replaces log and state of a follower
   * that lacks compacted entries. The receiving side passes this message to Raft, in the name of
   * the leader, when the content is complete.
   *
   * @param term term of the leader when it requested the transfer
   * @param mark position of the snapshot
   * @source Raft dissertation 5.3
   */
  record InstallSnapshot(long term, SnapshotMark mark) implements PeerMessage {}

  /**
   * The leader requests that the receiver starts an election immediately.
   *
   * @param term term of the leader
   * @source Raft dissertation 3.10
   */
  record TimeoutNow(long term) implements PeerMessage {}

  /**
   * The receiver was removed from the membership, and that is committed. Valid in any term, because
   * a removed id is never used again.
   *
   * @param term term of the sender
   */
  record Removed(long term) implements PeerMessage {}
}
