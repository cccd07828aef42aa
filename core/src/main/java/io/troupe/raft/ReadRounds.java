package io.troupe.raft;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.raft.quorum.VoteResult;

/**
 * A leader's answers to questions for a read index: one round of heartbeats at a time confirms that
 * it still leads.
 *
 * @source Raft dissertation 6.4
 */
final class ReadRounds {
  private final RaftCore core;
  private final LeaderRole leader;
  private final ReadQueue reads = new ReadQueue();

  ReadRounds(RaftCore core, LeaderRole leader) {
    this.core = core;
    this.leader = leader;
  }

  /** Context of the open round; 0 without one. */
  long context() {
    return reads.context();
  }

  /**
   * A follower asks. That it asks in this term says that it had voted for nobody later when it
   * asked, which is after its clients did: it counts as confirming, for this question alone. With
   * this member it may be a majority already.
   */
  void asked(NodeId from, long context) {
    boolean enough =
        core.conf
                .quorum()
                .tally(member -> member.equals(core.self) || member.equals(from), member -> false)
            == VoteResult.WON;
    if (enough && leader.hasCommittedInTerm()) {
      core.effects.send(
          from, new PeerMessage.ReadIndexReply(core.term(), context, core.log.commit()));
    } else {
      add(new ReadQueue.Read(from, context));
    }
  }

  /** Returns false if too many wait. */
  boolean add(ReadQueue.Read read) {
    if (reads.size() >= core.settings.maxPendingProposals()) {
      return false;
    }
    reads.add(read);
    open();
    return true;
  }

  /**
   * Has a quorum confirm the leadership after now; {@link LeaderRole#confirmed} gets the number.
   */
  void confirm(long number) {
    reads.add(new ReadQueue.Read(NodeId.NONE, number));
    open();
  }

  /**
   * Begins a round if reads wait. Before an entry of its own term is committed a new leader does
   * not know how far its predecessors committed.
   */
  void open() {
    if (!reads.hasWaiting() || reads.isRoundOpen() || !leader.hasCommittedInTerm()) {
      return;
    }
    reads.open(core.nextReadContext(), core.log.commit());
    reads.confirm(core.self);
    if (!close()) {
      leader.broadcastHeartbeats();
    }
  }

  /** A heartbeat came back. */
  void confirmed(NodeId from, long context) {
    if (reads.isRoundOpen() && context == reads.context()) {
      reads.confirm(from);
      close();
    }
  }

  /** The membership changed: perhaps those who confirmed the open round are enough now. */
  void recount() {
    if (reads.isRoundOpen()) {
      close();
    }
  }

  private boolean close() {
    if (core.conf.quorum().tally(reads::isConfirmedBy, member -> false) != VoteResult.WON) {
      return false;
    }
    long index = reads.index();
    for (ReadQueue.Read read : reads.close()) {
      if (read.origin().isNone()) {
        leader.confirmed(read.id());
      } else if (read.origin().equals(core.self)) {
        core.effects.releaseRead(read.id(), index);
      } else {
        core.effects.send(
            read.origin(), new PeerMessage.ReadIndexReply(core.term(), read.id(), index));
      }
    }
    open();
    return true;
  }

  /** The leadership ends. Members that asked for a read index notice that themselves. */
  void refuseAll() {
    for (ReadQueue.Read read : reads.drain()) {
      if (read.origin().equals(core.self)) {
        core.effects.rejectRead(read.id(), Refusal.LEADER_CHANGED);
      }
    }
  }
}
