package io.troupe.raft;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.raft.quorum.VoteResult;

/**
 * A leader's handling of read index requests: one round of heartbeats at a time confirms that it
 * still leads.
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
   * A follower requests a read index. Its request in this term proves that it had not voted in a
   * later term when it sent the request, which is after its clients sent theirs. So it counts as a
   * confirmation, for this request alone. Together with this member it may be a majority already.
   */
  void requested(NodeId from, long context) {
    if (isConfirmedBy(from)) {
      core.effects.send(
          from, new PeerMessage.ReadIndexReply(core.term(), context, core.log.commit()));
    } else {
      add(new ReadQueue.Read(from, context));
    }
  }

  /**
   * Releases a read of this member at once, if a request of {@code supporter} confirms it as in
   * {@link #requested}. Returns false if it does not.
   */
  boolean releaseConfirmed(long readId, NodeId supporter) {
    if (!isConfirmedBy(supporter)) {
      return false;
    }
    core.effects.releaseRead(readId, core.log.commit());
    return true;
  }

  private boolean isConfirmedBy(NodeId supporter) {
    return leader.hasCommittedInTerm()
        && core.conf
                .quorum()
                .tally(
                    member -> member.equals(core.self) || member.equals(supporter), member -> false)
            == VoteResult.WON;
  }

  /** Returns false if too many reads are pending. */
  boolean add(ReadQueue.Read read) {
    if (reads.size() >= core.settings.maxPendingProposals()) {
      return false;
    }
    reads.add(read);
    open();
    return true;
  }

  /**
   * Lets a quorum confirm the leadership from now on; {@link LeaderRole#confirmed} receives the
   * number.
   */
  void confirm(long number) {
    reads.add(new ReadQueue.Read(NodeId.NONE, number));
    open();
  }

  /**
   * Starts a round if reads are pending. Before an entry of its own term is committed, a new leader
   * does not know the commit index of its predecessors.
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

  /** A heartbeat reply arrived. */
  void confirmed(NodeId from, long context) {
    if (reads.isRoundOpen() && context == reads.context()) {
      reads.confirm(from);
      close();
    }
  }

  /** The membership changed: the members that confirmed the open round may be a quorum now. */
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

  /** The leadership ended. Members that requested a read index detect that themselves. */
  void refuseAll() {
    for (ReadQueue.Read read : reads.drain()) {
      if (read.origin().equals(core.self)) {
        core.effects.rejectRead(read.id(), Refusal.LEADER_CHANGED);
      }
    }
  }
}
