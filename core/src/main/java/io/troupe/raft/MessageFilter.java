package io.troupe.raft;

import io.troupe.model.NodeId;
import io.troupe.raft.membership.Membership;

/**
 * What is settled about a message before a role sees it: who sends it, and in which term.
 *
 * <pre>
 * message                                 older term        same term  higher term
 * Append, Heartbeat, Committed,           sender is told    role       follow the sender, role
 *   InstallSnapshot, TimeoutNow
 * RequestVote                             refused           vote       void while a leader works, unless it
 *                                                                      asked for this; pre-vote: vote; else
 *                                                                      follow nobody, vote
 * VoteReply                               void              role       pre-vote granted: role; else follow nobody
 * AppendReply, HeartbeatReply, ReadIndex, void              role       follow nobody, role
 *   ReadIndexReply, Forwarded...,
 *   ProposalsRejected
 * Removed                                 believed in any term
 * </pre>
 *
 * <p>A removed member is told so and not listened to, but for the request of a removed leader to
 * take over. Others that are not in the membership may lead and ask for votes, because this member
 * may be late in knowing the membership; what else they say is void.
 *
 * @source Raft dissertation 3.3, 4.2.3, 6.2, 9.6
 */
final class MessageFilter {
  private final RaftCore core;

  MessageFilter(RaftCore core) {
    this.core = core;
  }

  /** True if the message is to be handled; role and term may have changed then. */
  boolean admit(NodeId from, PeerMessage message) {
    return isWelcome(from, message) && settleTerm(from, message);
  }

  private boolean isWelcome(NodeId from, PeerMessage message) {
    Membership membership = core.conf.membership();
    if (message instanceof PeerMessage.TimeoutNow && from.equals(core.leader())) {
      // The last thing a removed leader does.
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

  private boolean settleTerm(NodeId from, PeerMessage message) {
    long term = core.term();
    if (message.term() < term) {
      if (Role.isFromLeader(message)) {
        core.outbox.promise(from, new PeerMessage.AppendReply(term, true, 0, 0, 0));
      } else if (message instanceof PeerMessage.RequestVote request) {
        core.outbox.promise(from, new PeerMessage.VoteReply(term, request.preVote(), false));
      }
      return false;
    }
    if (message.term() == term) {
      return true;
    }
    if (message instanceof PeerMessage.RequestVote request) {
      if (core.standing.hasWorkingLeader() && !request.transfer()) {
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
    core.standing.becomeFollower(message.term(), Role.isFromLeader(message) ? from : NodeId.NONE);
    return true;
  }
}
