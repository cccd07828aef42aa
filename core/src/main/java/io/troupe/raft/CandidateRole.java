package io.troupe.raft;

import io.troupe.model.Entry;
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
  private final Ballot ballot = new Ballot();

  CandidateRole(RaftCore core) {
    super(core);
  }

  @Override
  RaftRole kind() {
    return RaftRole.CANDIDATE;
  }

  @Override
  void enter() {
    RaftLog log = core.log;
    core.promiseToOtherVoters(
        new PeerMessage.RequestVote(core.term(), false, log.lastIndex(), log.lastTerm()));
  }

  @Override
  void leave() {}

  @Override
  void tick() {
    if (core.isTimeToCampaign()) {
      core.campaign();
    }
  }

  @Override
  void receive(NodeId from, PeerMessage message) {
    if (isFromLeader(message)) {
      core.becomeFollower(core.term(), from);
      core.redispatch(from, message);
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
    VoteResult result = ballot.record(voter, yes, core.quorum);
    if (result == VoteResult.WON) {
      core.becomeLeader();
    } else if (result == VoteResult.LOST) {
      core.becomeFollower(core.term(), NodeId.NONE);
    }
  }

  @Override
  void propose(Entry.Kind kind, List<Proposal> batch) {
    core.rejectAll(batch, Refusal.NO_LEADER);
  }

  @Override
  void requestRead(long readId) {
    core.effects.rejectRead(readId, Refusal.NO_LEADER);
  }
}
