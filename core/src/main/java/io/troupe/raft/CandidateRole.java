package io.troupe.raft;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.raft.quorum.VoteResult;
import java.util.List;

/**
 * Runs an election in its own new term. Its vote for itself counts, and its requests are sent, only
 * when that vote is durable: otherwise it could become leader, forget the term in a crash, and
 * allow another leader of the same term.
 *
 * @source Raft dissertation 3.4
 */
final class CandidateRole extends Role {
  private final VoteTally tally = new VoteTally();
  private final boolean transfer;

  /** {@code transfer} is true if the leader requested the election. */
  CandidateRole(RaftCore core, boolean transfer) {
    super(core);
    this.transfer = transfer;
  }

  @Override
  RaftRole kind() {
    return RaftRole.CANDIDATE;
  }

  @Override
  void enter() {
    RaftLog log = core.log;
    core.election.sendToOtherVotersAfterPersist(
        new PeerMessage.RequestVote(core.term(), false, log.lastIndex(), log.lastTerm(), transfer));
  }

  @Override
  void leave() {}

  @Override
  void tick() {
    if (core.election.isTimeToCampaign()) {
      core.election.campaign();
    }
  }

  @Override
  void receive(NodeId from, PeerMessage message) {
    if (isFromLeader(message)) {
      core.election.becomeFollower(core.term(), from);
      core.election.redispatch(from, message);
    } else if (message instanceof PeerMessage.VoteReply reply && !reply.preVote()) {
      count(from, reply.granted());
    }
  }

  @Override
  void durable() {
    if (core.disk.durableTerm() == core.term()) {
      count(core.self, true);
    }
  }

  private void count(NodeId voter, boolean yes) {
    VoteResult result = tally.record(voter, yes, core.conf.quorum());
    if (result == VoteResult.WON) {
      core.election.becomeLeader();
    } else if (result == VoteResult.LOST) {
      core.election.becomeFollower(core.term(), NodeId.NONE);
    }
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
}
