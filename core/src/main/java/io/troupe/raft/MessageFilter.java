package io.troupe.raft;

import io.troupe.model.NodeId;
import io.troupe.raft.membership.Membership;

/**
 * Checks the sender and the term of a message before the current role handles it.
 *
 * <pre>
 * message                        older term       same term  higher term
 * Append, Heartbeat, Committed,  reply with term  role       follow the sender, role
 *   InstallSnapshot, TimeoutNow
 * RequestVote                    refused          vote       ignored while a leader works, unless
 *                                                            the leader requested the election;
 *                                                            pre-vote: vote; else no leader, vote
 * VoteReply                      ignored          role       granted pre-vote: role;
 *                                                            else no leader
 * AppendReply, HeartbeatReply,   ignored          role       no leader, role
 *   ReadIndex, ReadIndexReply,
 *   Forwarded..., ProposalsRejected
 * Removed                        accepted in any term
 * </pre>
 *
 * <p>A removed member gets a {@code Removed} reply and is otherwise ignored, except for the request
 * of a removed leader to start an election. Other senders outside of the membership may lead and
 * request votes, because this member may learn about the membership late; their other messages are
 * ignored.
 *
 * @source Raft dissertation 3.3, 4.2.3, 6.2, 9.6
 */
final class MessageFilter {
  private final RaftCore core;

  MessageFilter(RaftCore core) {
    this.core = core;
  }

  /** True if the message must be handled; role and term may have changed. */
  boolean admit(NodeId from, PeerMessage message) {
    return isAccepted(from, message) && checkTerm(from, message);
  }

  private boolean isAccepted(NodeId from, PeerMessage message) {
    Membership membership = core.conf.membership();
    if (message instanceof PeerMessage.TimeoutNow && from.equals(core.leader())) {
      // The last message of a removed leader.
      return true;
    }
    if (membership.removed().contains(from)) {
      core.effects.send(from, new PeerMessage.Removed(core.term()));
      return false;
    }
    return Role.isFromLeader(message)
        || message instanceof PeerMessage.RequestVote
        || membership.contains(from)
        || from.equals(core.leader());
  }

  private boolean checkTerm(NodeId from, PeerMessage message) {
    long term = core.term();
    if (message.term() < term) {
      if (Role.isFromLeader(message)) {
        core.persistBatch.sendAfterPersist(from, new PeerMessage.AppendReply(term, true, 0, 0, 0));
      } else if (message instanceof PeerMessage.RequestVote request) {
        core.persistBatch.sendAfterPersist(
            from, new PeerMessage.VoteReply(term, request.preVote(), false));
      }
      return false;
    }
    if (message.term() == term) {
      return true;
    }
    if (message instanceof PeerMessage.RequestVote request) {
      if (core.election.hasWorkingLeader() && !request.transfer()) {
        return false;
      }
      if (request.preVote()) {
        return true;
      }
    } else if (message instanceof PeerMessage.VoteReply reply
        && reply.preVote()
        && reply.granted()) {
      return true;
    }
    core.election.becomeFollower(message.term(), Role.isFromLeader(message) ? from : NodeId.NONE);
    return true;
  }
}
