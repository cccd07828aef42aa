package io.troupe.raft;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.raft.quorum.VoteResult;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Makes the entries of its term and spreads them. Its own disk is one voter among the others: what
 * it has not yet made durable does not count, and a leader whose followers are faster commits
 * without its own disk.
 *
 * @source Raft dissertation 3.5, 3.6, 6.2 (check-quorum), 6.4 (reads), 10.2.1 (pipelining)
 */
final class LeaderRole extends Role {
  private final Map<NodeId, Progress> followers = new TreeMap<>();
  private final Map<Long, Long> lastForwarded = new HashMap<>();
  private final ReadQueue reads = new ReadQueue();
  private int ticksSinceHeartbeat;
  private int ticksSinceQuorumCheck;
  private long firstOwnIndex;
  private long pendingConfChange;

  LeaderRole(RaftCore core) {
    super(core);
  }

  @Override
  RaftRole kind() {
    return RaftRole.LEADER;
  }

  @Override
  void enter() {
    RaftLog log = core.log;
    firstOwnIndex = log.lastIndex() + 1;
    for (NodeId member : core.others()) {
      followers.put(member, new Progress(firstOwnIndex, core.settings.maxInflightAppends()));
    }
    for (long index = core.handout.applied() + 1; index < firstOwnIndex; index++) {
      if (log.get(index).kind() == Entry.Kind.CONF_CHANGE) {
        pendingConfChange = index;
      }
    }
    // Entries of earlier terms become committed only through one of this term (5.4.2), so there has
    // to be one.
    core.takeOver(List.of(new Entry(core.term(), firstOwnIndex, Entry.Kind.NOOP, Bytes.EMPTY)));
    broadcastAppends();
  }

  @Override
  void leave() {
    for (ReadQueue.Read read : reads.drain()) {
      // Members that asked for a read index notice the change of leader themselves.
      if (read.origin().equals(core.self)) {
        core.effects.rejectRead(read.id(), Refusal.LEADER_CHANGED);
      }
    }
  }

  @Override
  void tick() {
    int stall = core.settings.diskStallTicks();
    if (stall > 0 && core.disk.ticksWithoutAnswer() >= stall) {
      core.becomeFollower(core.term(), NodeId.NONE);
      return;
    }
    if (++ticksSinceQuorumCheck >= core.settings.electionTicks()) {
      ticksSinceQuorumCheck = 0;
      if (!hasActiveQuorum()) {
        core.becomeFollower(core.term(), NodeId.NONE);
        return;
      }
    }
    if (++ticksSinceHeartbeat >= core.settings.heartbeatTicks()) {
      broadcastHeartbeats();
    }
  }

  private boolean hasActiveQuorum() {
    VoteResult active =
        core.quorum.tally(
            member -> isSelf(member) || isActive(followers.get(member)), member -> false);
    followers.values().forEach(Progress::forgetActivity);
    return active == VoteResult.WON;
  }

  private static boolean isActive(@Nullable Progress progress) {
    return progress != null && progress.isRecentlyActive();
  }

  @Override
  void receive(NodeId from, PeerMessage message) {
    Invariant.require(!isFromLeader(message), "two leaders in one term");
    Progress progress = followers.get(from);
    if (progress == null) {
      return;
    }
    if (message instanceof PeerMessage.AppendReply reply) {
      onAppendReply(from, progress, reply);
    } else if (message instanceof PeerMessage.HeartbeatReply reply) {
      onHeartbeatReply(from, progress, reply);
    } else if (message instanceof PeerMessage.ForwardedProposals forwarded) {
      onForwarded(from, forwarded);
    } else if (message instanceof PeerMessage.ReadIndex question) {
      addRead(new ReadQueue.Read(from, question.context()));
    }
  }

  // ---- proposals

  @Override
  void propose(Entry.Kind kind, List<Proposal> batch) {
    int taken = take(kind, batch);
    if (taken < batch.size()) {
      core.rejectAll(batch.subList(taken, batch.size()), Refusal.TOO_MANY_REQUESTS);
    }
  }

  private void onForwarded(NodeId from, PeerMessage.ForwardedProposals forwarded) {
    long last = lastForwarded.getOrDefault(forwarded.origin(), 0L);
    if (forwarded.sequence() <= last) {
      return;
    }
    lastForwarded.put(forwarded.origin(), forwarded.sequence());
    List<Proposal> batch = forwarded.proposals();
    int taken = take(forwarded.kind(), batch);
    if (taken < batch.size()) {
      List<RequestId> ids = new ArrayList<>();
      for (Proposal refused : batch.subList(taken, batch.size())) {
        ids.add(refused.id());
      }
      core.effects.send(
          from, new PeerMessage.ProposalsRejected(core.term(), ids, Refusal.TOO_MANY_REQUESTS));
    }
  }

  /** Appends as many as may wait; returns how many. */
  private int take(Entry.Kind kind, List<Proposal> batch) {
    RaftLog log = core.log;
    boolean conf = kind == Entry.Kind.CONF_CHANGE;
    // One change of membership at a time: the next one must be judged by the outcome of this one.
    if ((conf && pendingConfChange > core.handout.applied()) || core.handout.isLogMemoryFull()) {
      return 0;
    }
    long room = core.settings.maxPendingProposals() - (log.lastIndex() - core.handout.applied());
    int count = (int) Math.min(conf ? 1 : batch.size(), Math.max(0, room));
    if (count == 0) {
      return 0;
    }
    long index = log.lastIndex() + 1;
    Entry[] entries = new Entry[count];
    for (int i = 0; i < count; i++) {
      entries[i] = new Entry(core.term(), index + i, kind, batch.get(i).operation());
    }
    if (conf) {
      pendingConfChange = index;
    }
    core.takeOver(List.of(entries));
    broadcastAppends();
    return count;
  }

  // ---- replication

  private void broadcastAppends() {
    followers.forEach(this::sendAppends);
  }

  /** Sends what the window allows. */
  private void sendAppends(NodeId to, Progress progress) {
    while (progress.next() <= core.log.lastIndex() && sendAppend(to, progress)) {
      // One message each time.
    }
  }

  /** Sends one message, perhaps without entries; false if the follower has to answer first. */
  private boolean sendAppend(NodeId to, Progress progress) {
    if (progress.isPaused()) {
      return false;
    }
    RaftLog log = core.log;
    long prevIndex = progress.next() - 1;
    long prevTerm = log.termAt(prevIndex);
    RaftSettings settings = core.settings;
    List<Entry> entries =
        prevTerm < 0
            ? List.of()
            : log.slice(
                progress.next(),
                log.lastIndex() + 1,
                settings.maxEntriesPerAppend(),
                settings.maxBytesPerAppend());
    if (prevTerm < 0 || (entries.isEmpty() && prevIndex < log.lastIndex())) {
      long index = log.snapshotIndex();
      progress.announced();
      core.effects.send(to, new PeerMessage.InstallSnapshot(core.term(), index, log.termAt(index)));
      return false;
    }
    long lastSent = prevIndex + entries.size();
    progress.sent(entries.size(), lastSent, log.commit());
    core.effects.send(
        to, new PeerMessage.Append(core.term(), prevIndex, prevTerm, entries, log.commit()));
    return true;
  }

  private void onAppendReply(NodeId from, Progress progress, PeerMessage.AppendReply reply) {
    progress.heard();
    RaftLog log = core.log;
    if (reply.rejected()) {
      long retryAt = log.lastAtOrBelow(reply.hintIndex(), reply.hintTerm());
      if (progress.rejected(reply.index(), retryAt)) {
        sendAppend(from, progress);
      }
      return;
    }
    Invariant.require(
        reply.index() <= log.lastIndex(), "follower is ahead", reply.index(), log.lastIndex());
    if (progress.matched(reply.index())) {
      advanceCommit();
    }
    sendAppends(from, progress);
    tellCommit(from, progress);
  }

  private void advanceCommit() {
    RaftLog log = core.log;
    long index = core.quorum.committedIndex(this::matchOf);
    // By counting only entries of its own term (5.4.2); earlier ones ride along.
    if (index > log.commit() && log.termAt(index) == core.term() && log.commitTo(index)) {
      openReadRound();
      followers.forEach(this::tellCommit);
    }
  }

  private long matchOf(NodeId member) {
    if (isSelf(member)) {
      return core.log.stable();
    }
    Progress progress = followers.get(member);
    return progress == null ? 0 : progress.match();
  }

  /**
   * Lets a follower know the commit index soon, its clients wait for it; saves the message if it
   * knows.
   */
  private void tellCommit(NodeId to, Progress progress) {
    boolean knows = progress.sentCommit() >= Math.min(core.log.commit(), progress.next() - 1);
    if (progress.state() == Progress.State.REPLICATE && !knows) {
      sendAppend(to, progress);
    }
  }

  @Override
  void durable() {
    advanceCommit();
  }

  // ---- heartbeats and reads

  private void broadcastHeartbeats() {
    ticksSinceHeartbeat = 0;
    followers.forEach(
        (to, progress) -> {
          // Never past what the follower surely has: its log decides nothing here.
          long commit = Math.min(progress.match(), core.log.commit());
          core.effects.send(to, new PeerMessage.Heartbeat(core.term(), commit, reads.context()));
        });
  }

  private void onHeartbeatReply(NodeId from, Progress progress, PeerMessage.HeartbeatReply reply) {
    progress.heard();
    progress.resume();
    if (progress.match() < core.log.lastIndex()) {
      // Even without entries: if the last message was lost, nobody else would notice.
      sendAppend(from, progress);
    }
    if (reads.isRoundOpen() && reply.readContext() == reads.context()) {
      reads.confirm(from);
      closeReadRound();
    }
  }

  @Override
  void requestRead(long readId) {
    if (!addRead(new ReadQueue.Read(core.self, readId))) {
      core.effects.rejectRead(readId, Refusal.TOO_MANY_REQUESTS);
    }
  }

  private boolean addRead(ReadQueue.Read read) {
    if (reads.size() >= core.settings.maxPendingProposals()) {
      return false;
    }
    reads.add(read);
    openReadRound();
    return true;
  }

  /**
   * Before an entry of its own term is committed a new leader does not know how far its
   * predecessors committed.
   */
  private void openReadRound() {
    if (!reads.hasWaiting() || reads.isRoundOpen() || core.log.commit() < firstOwnIndex) {
      return;
    }
    reads.open(core.nextReadContext(), core.log.commit());
    reads.confirm(core.self);
    if (!closeReadRound()) {
      broadcastHeartbeats();
    }
  }

  private boolean closeReadRound() {
    if (core.quorum.tally(reads::isConfirmedBy, member -> false) != VoteResult.WON) {
      return false;
    }
    long index = reads.index();
    for (ReadQueue.Read read : reads.close()) {
      if (isSelf(read.origin())) {
        core.effects.releaseRead(read.id(), index);
      } else {
        core.effects.send(
            read.origin(), new PeerMessage.ReadIndexReply(core.term(), read.id(), index));
      }
    }
    openReadRound();
    return true;
  }

  private boolean isSelf(NodeId member) {
    return member.equals(core.self);
  }
}
