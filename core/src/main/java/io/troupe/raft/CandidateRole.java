package io.troupe.raft;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.raft.quorum.VoteResult;
import java.util.List;

/**
 * Stands for election in its own new term. Its vote for itself counts, and its requests leave, only
 * when that vote is durable: otherwise it could be leader, forget the term in a crash, and be
 * another leader of the same term.
 *
 * @source Raft dissertation 3.4
 */
final class CandidateRole extends Role {
  private final VoteTally ballot = new VoteTally();
  private final boolean transfer;

  /** With {@code transfer}: because the leader asked for it. */
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
    core.standing.promiseToOtherVoters(
        new PeerMessage.RequestVote(core.term(), false, log.lastIndex(), log.lastTerm(), transfer));
  }

  @Override
  void leave() {}

  @Override
  void tick() {
    if (core.standing.isTimeToCampaign()) {
      core.standing.campaign();
    }
  }

  @Override
  void receive(NodeId from, PeerMessage message) {
    if (isFromLeader(message)) {
      core.standing.becomeFollower(core.term(), from);
      core.standing.redispatch(from, message);
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
    VoteResult result = ballot.record(voter, yes, core.conf.quorum());
    if (result == VoteResult.WON) {
      core.standing.becomeLeader();
    } else if (result == VoteResult.LOST) {
      core.standing.becomeFollower(core.term(), NodeId.NONE);
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
