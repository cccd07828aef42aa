package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import io.troupe.raft.ReplicationStatus.PeerState;
import io.troupe.raft.quorum.VoteResult;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A leader's spreading of its log: what each follower is sent, and what their answers prove.
 *
 * @source Raft dissertation 3.5, 3.6, 5.3, 10.2.1
 */
final class Replication {
  private final RaftCore core;
  private final SortedMap<NodeId, Progress> followers = new TreeMap<>();

  Replication(RaftCore core) {
    this.core = core;
  }

  /**
   * Takes up newcomers and forgets who left.
   *
   * @param patient true if newcomers count as active until the next check of the quorum: they had
   *     no time to answer yet
   */
  void follow(Iterable<NodeId> members, boolean patient) {
    SortedMap<NodeId, Progress> former = new TreeMap<>(followers);
    followers.clear();
    for (NodeId member : members) {
      if (!member.equals(core.self)) {
        Progress known = former.get(member);
        followers.put(member, known == null ? newcomer(patient) : known);
      }
    }
  }

  private Progress newcomer(boolean patient) {
    Progress progress = new Progress(core.log.lastIndex() + 1, core.settings);
    if (patient) {
      progress.presumeActive();
    }
    return progress;
  }

  @Nullable Progress of(NodeId member) {
    return followers.get(member);
  }

  SortedMap<NodeId, Progress> all() {
    return followers;
  }

  void tick() {
    followers.values().forEach(Progress::tick);
  }

  /** True if a quorum answered since the last call. */
  boolean takeActiveQuorum() {
    VoteResult active = core.conf.quorum().tally(this::isActive, member -> false);
    followers.values().forEach(Progress::forgetActivity);
    return active == VoteResult.WON;
  }

  private boolean isActive(NodeId member) {
    Progress progress = followers.get(member);
    return member.equals(core.self) || (progress != null && progress.isRecentlyActive());
  }

  // ---- appends

  void broadcast() {
    followers.forEach(this::sendAppends);
  }

  /**
   * Sends what the window allows. While an answer is awaited only full messages go: what comes
   * meanwhile shares the next one, which costs all members less than many small ones.
   */
  void sendAppends(NodeId to, Progress progress) {
    while (progress.next() <= core.log.lastIndex()
        && (!progress.isAwaitingAnswer() || isFullFrom(progress.next()))
        && sendAppend(to, progress)) {
      // One message each time.
    }
  }

  private boolean isFullFrom(long next) {
    RaftSettings settings = core.settings;
    return next < core.log.firstInMemory()
        || core.log.fills(next, settings.maxEntriesPerAppend(), settings.maxBytesPerAppend());
  }

  /** Sends one message, perhaps without entries; false if something has to be answered first. */
  boolean sendAppend(NodeId to, Progress progress) {
    if (progress.isPaused()) {
      return false;
    }
    RaftLog log = core.log;
    RaftSettings settings = core.settings;
    long next = progress.next();
    long prevTerm = log.termAt(next - 1);
    if (prevTerm < 0) {
      sendSnapshot(to, progress);
      return false;
    }
    if (next < log.firstInMemory()) {
      progress.readStarted();
      long until = Math.min(log.firstInMemory(), next + settings.maxEntriesPerAppend());
      core.effects.readLog(to, next, until, settings.maxBytesPerAppend());
      return false;
    }
    List<Entry> entries =
        log.slice(
            next,
            log.lastIndex() + 1,
            settings.maxEntriesPerAppend(),
            settings.maxBytesPerAppend());
    send(to, progress, prevTerm, entries);
    return true;
  }

  private void send(NodeId to, Progress progress, long prevTerm, List<Entry> entries) {
    long prevIndex = progress.next() - 1;
    long commit = core.log.commit();
    long bytes = 0;
    for (int i = 0; i < entries.size(); i++) {
      bytes += entries.get(i).data().length();
    }
    progress.sent(entries.size(), prevIndex + entries.size(), bytes, commit);
    core.effects.send(
        to, new PeerMessage.Append(core.term(), prevIndex, prevTerm, entries, commit));
  }

  private void sendSnapshot(NodeId to, Progress progress) {
    if (progress.isSnapshotDelayed()) {
      return;
    }
    long transfer = core.nextSnapshotTransfer();
    progress.snapshotStarted(transfer);
    core.effects.sendSnapshot(to, transfer, core.term(), core.log.snapshotIndex());
  }

  /** The follower answers, and perhaps the last message to it was lost. */
  void resume(NodeId to, Progress progress) {
    progress.resume();
    RaftLog log = core.log;
    if (progress.match() >= log.lastIndex()) {
      return;
    }
    if (progress.isSnapshotDelayed() && log.termAt(progress.next() - 1) < 0) {
      // Perhaps it has installed a snapshot since it rejected the entries after that.
      progress.probeAt(log.firstIndex());
      if (!progress.isPaused() && progress.next() == log.firstIndex()) {
        send(to, progress, log.termAt(log.snapshotIndex()), List.of());
      }
      return;
    }
    // Even without entries: if the last message was lost, nothing else would show it.
    sendAppend(to, progress);
  }

  /** The transfer of a snapshot ended. */
  void snapshotSent(NodeId to, long transfer, long index, boolean ok) {
    Progress progress = followers.get(to);
    if (progress == null || !progress.awaitsSnapshot(transfer)) {
      return;
    }
    Invariant.require(
        index <= core.log.lastIndex(), "snapshot past the log", index, core.log.lastIndex());
    progress.snapshotEnded(index, ok);
    sendAppend(to, progress);
  }

  /** Entries for one follower came from the disk; none: they cannot be had. */
  void logRead(NodeId to, long from, List<Entry> entries) {
    Progress progress = followers.get(to);
    if (progress == null) {
      return;
    }
    long prevTerm = core.log.termAt(from - 1);
    if (progress.readEnded(from) && prevTerm >= 0) {
      if (entries.isEmpty()) {
        sendSnapshot(to, progress);
        return;
      }
      core.log.requireOwn(from, entries);
      send(to, progress, prevTerm, entries);
    }
    sendAppends(to, progress);
  }

  // ---- answers

  /** Returns true if more may be committed now. */
  boolean onAppendReply(NodeId from, Progress progress, PeerMessage.AppendReply reply) {
    progress.heard();
    RaftLog log = core.log;
    if (reply.rejected()) {
      long retryAt = log.lastAtOrBelow(reply.hintIndex(), reply.hintTerm());
      if (progress.rejected(reply.index(), retryAt)) {
        sendAppend(from, progress);
      }
      return false;
    }
    Invariant.require(
        reply.index() <= log.lastIndex(), "follower is ahead", reply.index(), log.lastIndex());
    return progress.matched(reply.index(), log.firstIndex());
  }

  /**
   * Lets a follower know the commit index soon, its clients wait for it: with what is to be sent
   * anyway, or else alone.
   */
  void sendCommitIndex(NodeId to, Progress progress) {
    sendAppends(to, progress);
    long index = Math.min(core.log.commit(), progress.next() - 1);
    if (progress.state() != PeerState.REPLICATE || progress.sentCommit() >= index) {
      return;
    }
    long indexTerm = core.log.termAt(index);
    // Less than 0: it needs a snapshot, and hears of the commit with that.
    if (indexTerm >= 0) {
      progress.toldCommit(index);
      core.effects.send(to, new PeerMessage.Committed(core.term(), index, indexTerm));
    }
  }

  /** True if entries wait for an answer, to share the next message with others. */
  boolean hasDelayedAppends() {
    for (Progress progress : followers.values()) {
      if (hasDelayedAppends(progress)) {
        return true;
      }
    }
    return false;
  }

  private boolean hasDelayedAppends(Progress progress) {
    return progress.isAwaitingAnswer()
        && !progress.isPaused()
        && progress.next() <= core.log.lastIndex();
  }

  /** Entries that wait go now, as far as the windows allow. */
  void flushDelayedAppends() {
    followers.forEach(
        (to, progress) -> {
          if (hasDelayedAppends(progress)) {
            sendAppend(to, progress);
          }
        });
  }

  void tellCommitToAll() {
    followers.forEach(this::sendCommitIndex);
  }

  /** The highest index that a quorum stores. */
  long storedByQuorum() {
    return core.conf.quorum().committedIndex(this::matchOf);
  }

  private long matchOf(NodeId member) {
    if (member.equals(core.self)) {
      return core.log.stable();
    }
    Progress progress = followers.get(member);
    return progress == null ? 0 : progress.match();
  }

  /** The voter to pass on to: the one that answers and has most; NONE if there is none. */
  NodeId bestSuccessor() {
    NodeId best = NodeId.NONE;
    long most = -1;
    for (NodeId voter : core.conf.membership().voters()) {
      Progress progress = followers.get(voter);
      if (progress != null && progress.connectedTicks() > 0 && progress.match() > most) {
        best = voter;
        most = progress.match();
      }
    }
    return best;
  }

  ReplicationStatus status() {
    SortedMap<NodeId, ReplicationStatus.Peer> peers = new TreeMap<>();
    for (Map.Entry<NodeId, Progress> follower : followers.entrySet()) {
      Progress progress = follower.getValue();
      peers.put(
          follower.getKey(),
          new ReplicationStatus.Peer(
              progress.match(), progress.connectedTicks(), progress.state()));
    }
    return new ReplicationStatus(core.self, core.log.lastIndex(), peers);
  }
}
