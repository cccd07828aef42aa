package io.troupe.raft;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.raft.quorum.VoteResult;
import java.util.List;

/**
 * Asks whether an election in the next term could be won, before anybody's term changes: a member
 * that was cut off does not unseat a working leader when it comes back.
 *
 * @source Raft dissertation 9.6
 */
final class PreCandidateRole extends Role {
  private final VoteTally ballot = new VoteTally();
  private int ticksSinceAsked;

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
      ask();
    }
  }

  /** Nothing is promised here, so nothing waits for the disk. */
  private void ask() {
    ticksSinceAsked = 0;
    RaftLog log = core.log;
    PeerMessage question =
        new PeerMessage.RequestVote(core.term() + 1, true, log.lastIndex(), log.lastTerm());
    for (NodeId voter : core.conf.membership().allVoters()) {
      if (!ballot.hasAnswered(voter)) {
        core.effects.send(voter, question);
      }
    }
  }

  @Override
  void leave() {}

  @Override
  void tick() {
    if (core.standing.isTimeToCampaign()) {
      core.standing.campaign();
    } else if (++ticksSinceAsked >= core.settings.heartbeatTicks() && core.standing.mayCampaign()) {
      // Some still heard their leader a moment ago and kept silent, some are only just starting.
      ask();
    }
  }

  @Override
  void receive(NodeId from, PeerMessage message) {
    if (isFromLeader(message)) {
      core.standing.becomeFollower(core.term(), from);
      core.standing.redispatch(from, message);
    } else if (message instanceof PeerMessage.VoteReply reply && reply.preVote()) {
      if (!reply.granted() || reply.term() == core.term() + 1) {
        count(from, reply.granted());
      }
    }
  }

  /** Returns true if this vote decided the question. */
  private boolean count(NodeId voter, boolean yes) {
    VoteResult result = ballot.record(voter, yes, core.conf.quorum());
    if (result == VoteResult.WON) {
      core.standing.becomeCandidate(false);
    } else if (result == VoteResult.LOST) {
      core.standing.becomeFollower(core.term(), NodeId.NONE);
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
