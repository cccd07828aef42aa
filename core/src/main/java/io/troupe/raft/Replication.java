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
 * A leader's replication of its log: the messages to each follower, and what the replies prove.
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
   * Adds new followers and removes those that are no longer members.
   *
   * @param countAsActive true if new followers count as active until the next check-quorum, because
   *     they had no time to reply yet
   */
  void follow(Iterable<NodeId> members, boolean countAsActive) {
    SortedMap<NodeId, Progress> former = new TreeMap<>(followers);
    followers.clear();
    for (NodeId member : members) {
      if (!member.equals(core.self)) {
        Progress known = former.get(member);
        followers.put(member, known == null ? newcomer(countAsActive) : known);
      }
    }
  }

  private Progress newcomer(boolean countAsActive) {
    Progress progress = new Progress(core.log.lastIndex() + 1, core.settings);
    if (countAsActive) {
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

  /** True if a quorum replied since the last call. */
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
   * Sends what the window allows. While a reply is pending only full messages are sent: later
   * entries share the next message, which costs all members less than many small ones.
   */
  void sendAppends(NodeId to, Progress progress) {
    while (progress.next() <= core.log.lastIndex()
        && (!progress.isAwaitingReply() || isFullFrom(progress.next()))
        && sendAppend(to, progress)) {
      // One message for each iteration.
    }
  }

  private boolean isFullFrom(long next) {
    RaftSettings settings = core.settings;
    return next < core.log.firstInMemory()
        || core.log.fills(next, settings.maxEntriesPerAppend(), settings.maxBytesPerAppend());
  }

  /** Sends one message, perhaps without entries; false if a reply must arrive first. */
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

  /** The follower replies, but the last message to it may be lost. */
  void resume(NodeId to, Progress progress) {
    progress.resume();
    RaftLog log = core.log;
    if (progress.match() >= log.lastIndex()) {
      return;
    }
    if (progress.isSnapshotDelayed() && log.termAt(progress.next() - 1) < 0) {
      // Perhaps the follower installed a snapshot since it rejected the entries after it.
      progress.probeAt(log.firstIndex());
      if (!progress.isPaused() && progress.next() == log.firstIndex()) {
        send(to, progress, log.termAt(log.snapshotIndex()), List.of());
      }
      return;
    }
    // Even without entries: if the last message was lost, nothing else would reveal it.
    sendAppend(to, progress);
  }

  /** The transfer of a snapshot finished. */
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

  /**
   * Entries for one follower were read from the disk; an empty list means they are not available.
   */
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

  // ---- replies

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
   * Sends the commit index to a follower soon, because its clients wait for it: with pending
   * appends, or alone.
   */
  void sendCommitIndex(NodeId to, Progress progress) {
    sendAppends(to, progress);
    long index = Math.min(core.log.commit(), progress.next() - 1);
    if (progress.state() != PeerState.REPLICATE || progress.sentCommit() >= index) {
      return;
    }
    long indexTerm = core.log.termAt(index);
    // Below 0: the follower needs a snapshot, which carries the commit index.
    if (indexTerm >= 0) {
      progress.commitIndexSent(index);
      core.effects.send(to, new PeerMessage.Committed(core.term(), index, indexTerm));
    }
  }

  /** True if entries are delayed until a reply, to share the next message with later entries. */
  boolean hasDelayedAppends() {
    for (Progress progress : followers.values()) {
      if (hasDelayedAppends(progress)) {
        return true;
      }
    }
    return false;
  }

  private boolean hasDelayedAppends(Progress progress) {
    return progress.isAwaitingReply()
        && !progress.isPaused()
        && progress.next() <= core.log.lastIndex();
  }

  /** Sends delayed entries, as far as the windows allow. */
  void flushDelayedAppends() {
    followers.forEach(
        (to, progress) -> {
          if (hasDelayedAppends(progress)) {
            sendAppend(to, progress);
          }
        });
  }

  void sendCommitIndexToAll() {
    followers.forEach(this::sendCommitIndex);
  }

  /** The highest index that a quorum stores. */
  long storedByQuorum() {
    return core.conf.quorum().committedIndex(this::matchOf);
  }

  /** The highest index that every follower stores; Long.MAX_VALUE without followers. */
  long storedByAll() {
    long stored = Long.MAX_VALUE;
    for (Progress progress : followers.values()) {
      stored = Math.min(stored, progress.match());
    }
    return stored;
  }

  private long matchOf(NodeId member) {
    if (member.equals(core.self)) {
      return core.log.stable();
    }
    Progress progress = followers.get(member);
    return progress == null ? 0 : progress.match();
  }

  /**
   * The best target of a leadership transfer: the responsive voter with the longest log; NONE if
   * there is none.
   */
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
