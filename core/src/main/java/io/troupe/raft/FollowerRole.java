package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Takes the leader's log over. Proposals and reads of its own clients it passes on to the leader,
 * if it knows one.
 *
 * @source Raft dissertation 3.5
 */
final class FollowerRole extends Role {
  private final ReadQueue reads = new ReadQueue();
  private int ticksSinceReadRound;

  FollowerRole(RaftCore core) {
    super(core);
  }

  @Override
  RaftRole kind() {
    return RaftRole.FOLLOWER;
  }

  @Override
  void enter() {}

  @Override
  void leave() {
    refuseReads();
  }

  private void refuseReads() {
    for (ReadQueue.Read read : reads.drain()) {
      core.effects.rejectRead(read.id(), Refusal.LEADER_CHANGED);
    }
  }

  @Override
  void tick() {
    if (core.standing.isTimeToCampaign()) {
      core.standing.campaign();
      return;
    }
    if (core.standing.isTimeToAsk()) {
      // No leader speaks to this learner. Perhaps it was removed: whoever knows will say so. A
      // leader
      // that knows it as a member finds it again by this, others keep silent.
      refuseReads();
      PeerMessage question = new PeerMessage.ReadIndex(core.term(), core.nextReadContext());
      for (NodeId member : core.conf.membership().members()) {
        if (!member.equals(core.self)) {
          core.effects.send(member, question);
        }
      }
      return;
    }
    // The question or the answer may be lost. The same context may be asked again: any answer to it
    // is young enough.
    ticksSinceReadRound++;
    if (reads.isRoundOpen() && ticksSinceReadRound >= core.settings.heartbeatTicks()) {
      askForReadIndex();
    }
  }

  @Override
  void receive(NodeId from, PeerMessage message) {
    if (isFromLeader(message)) {
      onLeaderMessage(from, message);
    } else if (message instanceof PeerMessage.ReadIndexReply reply) {
      onReadIndexReply(reply);
    }
    // Proposals and reads for a leader that is none any more get no answer: whoever sent them may
    // still see them done by
    // an earlier copy, so saying "refused" would be a lie.
  }

  private void onLeaderMessage(NodeId from, PeerMessage message) {
    core.standing.heardFromLeader(from);
    if (message instanceof PeerMessage.Append append) {
      onAppend(from, append);
    } else if (message instanceof PeerMessage.Heartbeat heartbeat) {
      core.commitTo(heartbeat.commit());
      core.effects.send(from, new PeerMessage.HeartbeatReply(core.term(), heartbeat.readContext()));
    } else if (message instanceof PeerMessage.Committed committed) {
      // The same term at an index: the same entries up to there.
      if (core.log.termAt(committed.index()) == committed.indexTerm()) {
        core.commitTo(committed.index());
      }
    } else if (message instanceof PeerMessage.InstallSnapshot snapshot) {
      onInstallSnapshot(from, snapshot.mark());
    } else if (message instanceof PeerMessage.TimeoutNow) {
      core.standing.campaignAtOnce();
    }
  }

  private void onInstallSnapshot(NodeId from, SnapshotMark mark) {
    long index = mark.index();
    if (index > core.log.commit()) {
      if (core.log.termAt(index) == mark.term()) {
        // The log has it all: no need for the content.
        core.commitTo(index);
      } else if (core.disk.isInstalling()) {
        // The leader will find out how far the first one leads.
        return;
      } else {
        core.install(mark);
      }
    }
    core.outbox.promise(from, PeerMessage.AppendReply.matched(core.term(), core.log.commit()));
  }

  private void onAppend(NodeId from, PeerMessage.Append append) {
    RaftLog log = core.log;
    if (append.prevIndex() < log.commit()) {
      // Late. Everything committed is the same everywhere, so this much is certain.
      core.outbox.promise(from, PeerMessage.AppendReply.matched(core.term(), log.commit()));
      return;
    }
    if (log.termAt(append.prevIndex()) != append.prevTerm()) {
      long hint = log.lastAtOrBelow(append.prevIndex(), append.prevTerm());
      core.outbox.promise(
          from,
          new PeerMessage.AppendReply(
              core.term(), true, append.prevIndex(), hint, log.termAt(hint)));
      return;
    }
    if (append.prevIndex() >= log.lastIndex() && core.handout.isApplyLagging()) {
      // The leader sends again: without a reply its window stays full until the state machine here
      // has applied enough. Never so for entries that replace others: those may be what fills the
      // memory, and are not applied some day.
      core.commitTo(Math.min(append.commit(), append.prevIndex()));
      return;
    }
    core.appendEntries(newPart(append));
    long lastNew = append.prevIndex() + append.entries().size();
    core.commitTo(Math.min(append.commit(), lastNew));
    core.outbox.promise(from, PeerMessage.AppendReply.matched(core.term(), lastNew));
  }

  /**
   * The entries from the first one on that this log does not have; an entry it has is never written
   * again.
   */
  private List<Entry> newPart(PeerMessage.Append append) {
    List<Entry> entries = append.entries();
    for (int i = 0; i < entries.size(); i++) {
      Entry entry = entries.get(i);
      long expected = append.prevIndex() + 1 + i;
      Invariant.require(entry.index() == expected, "gap in an append", expected, entry.index());
      if (core.log.termAt(entry.index()) != entry.term()) {
        return i == 0 ? entries : List.copyOf(entries.subList(i, entries.size()));
      }
    }
    return List.of();
  }

  @Override
  void propose(List<Proposal> batch) {
    if (core.leader().isNone()) {
      core.rejectAll(batch, Refusal.NO_LEADER);
      return;
    }
    List<Proposal> sent = new ArrayList<>(batch.size());
    List<Proposal> refused = new ArrayList<>(0);
    for (Proposal proposal : batch) {
      (waiting() < core.settings.maxPending(proposal) ? sent : refused).add(proposal);
    }
    forward(sent);
    if (!refused.isEmpty()) {
      core.rejectAll(refused, Refusal.TOO_MANY_REQUESTS);
    }
  }

  /** As many messages as keep each of them about as long as an append. */
  private void forward(List<Proposal> proposals) {
    int from = 0;
    long bytes = 0;
    for (int i = 0; i < proposals.size(); i++) {
      bytes += proposals.get(i).operation().length();
      boolean last = i + 1 == proposals.size();
      long next = last ? 0 : proposals.get(i + 1).operation().length();
      if (last || bytes + next > core.settings.maxBytesPerAppend()) {
        core.effects.send(
            core.leader(), core.forwarded(List.copyOf(proposals.subList(from, i + 1))));
        from = i + 1;
        bytes = 0;
      }
    }
  }

  private long waiting() {
    return core.log.commit() - core.handout.applied();
  }

  @Override
  void proposeConfChange(ConfProposal proposal) {
    Refusal refusal = refusal();
    if (refusal != null) {
      core.effects.reject(proposal.id(), refusal);
    } else {
      core.effects.send(core.leader(), core.forwarded(proposal));
    }
  }

  private @Nullable Refusal refusal() {
    if (core.leader().isNone()) {
      return Refusal.NO_LEADER;
    }
    return waiting() >= core.settings.maxPendingProposals() ? Refusal.TOO_MANY_REQUESTS : null;
  }

  @Override
  void requestRead(long readId) {
    if (core.leader().isNone()) {
      core.effects.rejectRead(readId, Refusal.NO_LEADER);
    } else if (reads.size() >= core.settings.maxPendingProposals()) {
      core.effects.rejectRead(readId, Refusal.TOO_MANY_REQUESTS);
    } else {
      reads.add(new ReadQueue.Read(core.self, readId));
      openReadRound();
    }
  }

  private void openReadRound() {
    if (reads.hasWaiting() && !reads.isRoundOpen()) {
      reads.open(core.nextReadContext(), 0);
      askForReadIndex();
    }
  }

  private void askForReadIndex() {
    ticksSinceReadRound = 0;
    core.effects.send(core.leader(), new PeerMessage.ReadIndex(core.term(), reads.context()));
  }

  private void onReadIndexReply(PeerMessage.ReadIndexReply reply) {
    if (!reads.isRoundOpen() || reply.context() != reads.context()) {
      return;
    }
    for (ReadQueue.Read read : reads.close()) {
      core.effects.releaseRead(read.id(), reply.index());
    }
    openReadRound();
  }

  @Override
  void durable() {}
}
