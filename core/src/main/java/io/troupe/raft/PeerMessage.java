package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import java.util.List;

/**
 * What members say to each other. Immutable. Every message names the term its sender was in (for a
 * pre-vote: the term it asks about). Loss, delay, repetition and reordering of any message are
 * harmless.
 */
public sealed interface PeerMessage {
  /**
   * Term of the sender; for a pre-vote request, and for a pre-vote that was granted, the term asked
   * about.
   */
  long term();

  /**
   * Asks for a vote, or, with {@code preVote}, whether a vote would be given.
   *
   * @param term term the vote is for
   * @param preVote true if nobody's term changes by this question
   * @param lastIndex end of the sender's log
   * @param lastTerm term of that entry
   * @param transfer true if the leader itself asked the sender to stand: it is not to be protected
   * @source Raft dissertation 3.4, 3.10, 9.6
   */
  record RequestVote(long term, boolean preVote, long lastIndex, long lastTerm, boolean transfer)
      implements PeerMessage {
    /** A request that nobody asked for. */
    RequestVote(long term, boolean preVote, long lastIndex, long lastTerm) {
      this(term, preVote, lastIndex, lastTerm, false);
    }
  }

  /**
   * Answers {@link RequestVote}.
   *
   * @param term the term voted in; of the answering member when it says no
   * @param preVote as in the question
   * @param granted yes or no
   */
  record VoteReply(long term, boolean preVote, boolean granted) implements PeerMessage {}

  /**
   * Entries for a follower; without entries it asks whether the logs agree at {@code prevIndex}.
   *
   * @param term term of the leader
   * @param prevIndex index before the first entry
   * @param prevTerm term of the leader's entry at prevIndex
   * @param entries contiguous from prevIndex + 1; may be empty
   * @param commit commit index of the leader; may lie past these entries
   */
  record Append(long term, long prevIndex, long prevTerm, List<Entry> entries, long commit)
      implements PeerMessage {
    /** Copies the list. */
    public Append {
      entries = List.copyOf(entries);
    }
  }

  /**
   * Answers {@link Append}.
   *
   * @param term term of the follower
   * @param rejected false: the follower's durable log equals the leader's up to {@code index}.
   *     True: it did not agree at {@code index}
   * @param index see rejected
   * @param hintIndex if rejected: the highest index at which the logs may agree, as far as the
   *     follower can tell
   * @param hintTerm if rejected: term of the follower's entry there
   */
  record AppendReply(long term, boolean rejected, long index, long hintIndex, long hintTerm)
      implements PeerMessage {
    /** The logs agree up to {@code index}, and the follower's is durable so far. */
    static AppendReply matched(long term, long index) {
      return new AppendReply(term, false, index, 0, 0);
    }
  }

  /**
   * Tells a follower how far the log is committed when there is nothing else to tell it. Not
   * answered; void if the receiver's entry at {@code index} is not of {@code indexTerm}. Heartbeats
   * repair its loss.
   *
   * @param term term of the leader
   * @param index an index that is committed
   * @param indexTerm term of the leader's entry there
   */
  record Committed(long term, long index, long indexTerm) implements PeerMessage {}

  /**
   * Keeps a follower quiet.
   *
   * @param term term of the leader
   * @param commit highest index both committed and known to be in the receiver's log
   * @param readContext the round of reads this heartbeat also confirms; 0 means none
   */
  record Heartbeat(long term, long commit, long readContext) implements PeerMessage {}

  /**
   * Answers {@link Heartbeat}.
   *
   * @param term term of the follower
   * @param readContext as in the heartbeat
   */
  record HeartbeatReply(long term, long readContext) implements PeerMessage {}

  /**
   * A follower asks for a read index.
   *
   * @param term term of the follower
   * @param context unique over all followers' restarts; comes back in the answer
   */
  record ReadIndex(long term, long context) implements PeerMessage {}

  /**
   * Answers {@link ReadIndex}, once a majority confirmed the leader after the question came.
   *
   * @param term term of the leader
   * @param context as in the question
   * @param index reads of that context may be served when this index is applied
   */
  record ReadIndexReply(long term, long context, long index) implements PeerMessage {}

  /**
   * Proposals in flight to the leader. Taken at most once ({@code ReplayWindow}): a number
   * that came before from the same {@code origin}, or is overtaken by very many, is dropped.
   *
   * @param term term in which the sender knew the leader; another term makes it void
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

    /** Whether any of them belongs to a trace. */
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
   * A change of the membership in flight to the leader. Taken at most once, by the same numbers as
   * {@link ForwardedProposals}.
   *
   * @param term term in which the sender knew the leader; another term makes it void
   * @param origin one run of the sender's process, drawn at random
   * @param sequence counts up within {@code origin}
   * @param proposal what is wanted
   */
  record ForwardedConfChange(long term, long origin, long sequence, ConfProposal proposal)
      implements PeerMessage {}

  /**
   * The leader refused forwarded proposals; they are in no log.
   *
   * @param term term of the leader
   * @param ids which
   * @param reason why
   */
  record ProposalsRejected(long term, List<RequestId> ids, Refusal reason) implements PeerMessage {
    /** Copies the list. */
    public ProposalsRejected {
      ids = List.copyOf(ids);
    }
  }

  /**
   * The content of a snapshot has arrived and was checked; it is to replace log and state of a
   * follower that lacks entries which are gone. Handed over on the receiving side, in the name of
   * the leader, when the content is complete.
   *
   * @param term term of the leader when it asked for the transfer
   * @param mark where the snapshot stands
   * @source Raft dissertation 5.3
   */
  record InstallSnapshot(long term, SnapshotMark mark) implements PeerMessage {}

  /**
   * The leader wants the receiver to stand for election at once.
   *
   * @param term term of the leader
   * @source Raft dissertation 3.10
   */
  record TimeoutNow(long term) implements PeerMessage {}

  /**
   * The receiver was removed from the membership, and that is committed. True whatever the terms
   * are: a removed id never comes back.
   *
   * @param term term of the sender
   */
  record Removed(long term) implements PeerMessage {}
}
