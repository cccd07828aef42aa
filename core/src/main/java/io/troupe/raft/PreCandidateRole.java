package io.troupe.raft;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.raft.quorum.VoteResult;
import java.util.List;

/**
 * Checks that an election in the next term could be won, before any member changes its term. So a
 * member that was disconnected does not unseat a working leader when it reconnects.
 *
 * @source Raft dissertation 9.6
 */
final class PreCandidateRole extends Role {
  private final VoteTally tally = new VoteTally();
  private int ticksSinceRequest;

  PreCandidateRole(RaftCore core) {
    super(core);
  }

  @Override
  RaftRole kind() {
    return RaftRole.PRE_CANDIDATE;
  }

  @Override
  void enter() {
    if (!count(core.self, true)) {
      requestVotes();
    }
  }

  /** A pre-vote requires no durability, so its messages do not wait for the disk. */
  private void requestVotes() {
    ticksSinceRequest = 0;
    RaftLog log = core.log;
    PeerMessage request =
        new PeerMessage.RequestVote(core.term() + 1, true, log.lastIndex(), log.lastTerm());
    for (NodeId voter : core.conf.membership().allVoters()) {
      if (!tally.hasVoted(voter)) {
        core.effects.send(voter, request);
      }
    }
  }

  @Override
  void leave() {}

  @Override
  void tick() {
    if (core.election.isTimeToCampaign()) {
      core.election.campaign();
    } else if (++ticksSinceRequest >= core.settings.heartbeatTicks()
        && core.election.mayCampaign()) {
      // Some voters still followed their leader and ignored the request, others are only starting.
      requestVotes();
    }
  }

  @Override
  void receive(NodeId from, PeerMessage message) {
    if (isFromLeader(message)) {
      core.election.becomeFollower(core.term(), from);
      core.election.redispatch(from, message);
    } else if (message instanceof PeerMessage.VoteReply reply && reply.preVote()) {
      if (!reply.granted() || reply.term() == core.term() + 1) {
        count(from, reply.granted());
      }
    }
  }

  /** Returns true if this vote decided the pre-vote. */
  private boolean count(NodeId voter, boolean yes) {
    VoteResult result = tally.record(voter, yes, core.conf.quorum());
    if (result == VoteResult.WON) {
      core.election.becomeCandidate(false);
    } else if (result == VoteResult.LOST) {
      core.election.becomeFollower(core.term(), NodeId.NONE);
    }
    return result != VoteResult.PENDING;
  }

  @Override
  void propose(List<Proposal> batch) {
    core.rejectAll(batch, Refusal.NO_LEADER);
  }

  @Override
  void proposeConfChange(ConfProposal proposal) {
    core.effects.reject(proposal.id(), Refusal.NO_LEADER);
  }

  @Override
  void requestRead(long readId) {
    core.effects.rejectRead(readId, Refusal.NO_LEADER);
  }

  @Override
  void durable() {}
}
