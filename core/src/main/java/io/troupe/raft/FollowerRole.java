package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Copies the leader's log. Forwards proposals and reads of its own clients to the leader, if it
 * knows one.
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
    if (core.election.isTimeToCampaign()) {
      core.election.campaign();
      return;
    }
    if (core.election.isTimeToFindLeader()) {
      // No leader contacts this learner. Perhaps it was removed: a member that knows that replies
      // with Removed. A leader that has it as a member resumes replication after this request;
      // other members ignore it.
      refuseReads();
      PeerMessage request = new PeerMessage.ReadIndex(core.term(), core.nextReadContext());
      for (NodeId member : core.conf.membership().members()) {
        if (!member.equals(core.self)) {
          core.effects.send(member, request);
        }
      }
      return;
    }
    // The request or the reply may be lost. The same context may be sent again: any reply to it is
    // recent enough.
    ticksSinceReadRound++;
    if (reads.isRoundOpen() && ticksSinceReadRound >= core.settings.heartbeatTicks()) {
      requestReadIndex();
    }
  }

  @Override
  void receive(NodeId from, PeerMessage message) {
    if (isFromLeader(message)) {
      onLeaderMessage(from, message);
    } else if (message instanceof PeerMessage.ReadIndexReply reply) {
      onReadIndexReply(reply);
    }
    // Proposals and reads for a former leader get no reply: an earlier copy may still be executed,
    // so a refusal could be wrong.
  }

  private void onLeaderMessage(NodeId from, PeerMessage message) {
    core.election.heardFromLeader(from);
    if (message instanceof PeerMessage.Append append) {
      onAppend(from, append);
    } else if (message instanceof PeerMessage.Heartbeat heartbeat) {
      core.commitTo(heartbeat.commit());
      core.effects.send(from, new PeerMessage.HeartbeatReply(core.term(), heartbeat.readContext()));
    } else if (message instanceof PeerMessage.Committed committed) {
      // Equal terms at an index prove equal entries up to there.
      if (core.log.termAt(committed.index()) == committed.indexTerm()) {
        core.commitTo(committed.index());
      }
    } else if (message instanceof PeerMessage.InstallSnapshot snapshot) {
      onInstallSnapshot(from, snapshot.mark());
    } else if (message instanceof PeerMessage.TimeoutNow) {
      core.election.campaignWithoutPreVote();
    }
  }

  private void onInstallSnapshot(NodeId from, SnapshotMark mark) {
    long index = mark.index();
    if (index > core.log.commit()) {
      if (core.log.termAt(index) == mark.term()) {
        // The log is complete up to the snapshot: its content is not needed.
        core.commitTo(index);
      } else if (core.disk.isInstalling()) {
        // The leader learns from the next messages how far the first snapshot reaches.
        return;
      } else {
        core.install(mark);
      }
    }
    core.persistBatch.sendAfterPersist(
        from, PeerMessage.AppendReply.matched(core.term(), core.log.commit()));
  }

  private void onAppend(NodeId from, PeerMessage.Append append) {
    RaftLog log = core.log;
    if (append.prevIndex() < log.commit()) {
      // A late message. Everything committed is equal on all members, so this much is certain.
      core.persistBatch.sendAfterPersist(
          from, PeerMessage.AppendReply.matched(core.term(), log.commit()));
      return;
    }
    if (log.termAt(append.prevIndex()) != append.prevTerm()) {
      long hint = log.lastAtOrBelow(append.prevIndex(), append.prevTerm());
      core.persistBatch.sendAfterPersist(
          from,
          new PeerMessage.AppendReply(
              core.term(), true, append.prevIndex(), hint, log.termAt(hint)));
      return;
    }
    if (append.prevIndex() >= log.lastIndex() && core.applyQueue.isApplyLagging()) {
      // The leader sends again: without a reply its window stays full until the state machine here
      // has applied enough. Never for entries that replace others: those may be the ones that fill
      // the memory and would then never be applied.
      core.commitTo(Math.min(append.commit(), append.prevIndex()));
      return;
    }
    core.appendEntries(newPart(append));
    long lastNew = append.prevIndex() + append.entries().size();
    core.commitTo(Math.min(append.commit(), lastNew));
    core.persistBatch.sendAfterPersist(from, PeerMessage.AppendReply.matched(core.term(), lastNew));
  }

  /**
   * Entries from the first one on that this log lacks; an entry that it has is never written again.
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

  /** Sends several messages, each at most about as long as an append. */
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
    return core.log.commit() - core.applyQueue.applied();
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
      requestReadIndex();
    }
  }

  private void requestReadIndex() {
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
