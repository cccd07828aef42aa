package io.troupe.raft;

import static io.troupe.model.Invariant.require;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One member of a {@link SimCluster}: its core, its disk, a state machine that only counts, and
 * checks of every effect.
 */
final class SimNode implements RaftEffects {
  final NodeId id;

  /** Work for the state machine: entries, or a snapshot. */
  private record Work(List<Entry> entries, @Nullable SnapshotMark install) {}

  /** A snapshot to be transferred to another member. */
  record SnapshotTransfer(NodeId to, long number, long term, long atLeast) {}

  /** Entries to be read for another member. */
  record LogReadRequest(NodeId to, long from, long until, long maxBytes) {}

  final SimDisk disk;
  private final ArrayDeque<Work> toApply = new ArrayDeque<>();
  final ArrayDeque<SnapshotTransfer> transfers = new ArrayDeque<>();
  final ArrayDeque<LogReadRequest> logReads = new ArrayDeque<>();
  final Map<Long, Long> openReads = new HashMap<>();
  final Map<Long, Long> releasedReads = new HashMap<>();
  private final SimCluster cluster;
  private final RaftSettings settings;
  boolean removed;
  private Membership membership;
  private @Nullable RaftCore core;
  private long sentToApply;
  private long lastCommit;

  SimNode(NodeId id, SimCluster cluster, Membership membership, RaftSettings settings) {
    this.id = id;
    this.cluster = cluster;
    this.membership = membership;
    this.disk = new SimDisk(membership);
    this.settings = settings;
  }

  boolean isUp() {
    return core != null;
  }

  RaftCore core() {
    RaftCore running = core;
    if (running == null) {
      throw new IllegalStateException(id + " is down");
    }
    return running;
  }

  void boot(long seed) {
    RaftState recovered = disk.recover(id);
    sentToApply = recovered.applied();
    membership = recovered.membership();
    lastCommit = 0;
    RaftCore started = new RaftCore(recovered, settings, new SplittableRandom(seed), this);
    core = started;
    started.start();
    check();
  }

  void crash(int survivors) {
    crash(survivors, 0);
  }

  void crash(int survivors, int torn) {
    disk.crash(Math.min(survivors, disk.unforced.size()), torn);
    core = null;
    toApply.clear();
    transfers.clear();
    logReads.clear();
    openReads.clear();
  }

  /** The disk completes its oldest write; the completion is reported and the messages are sent. */
  void force() {
    SimDisk.Write write = disk.force();
    for (Outgoing outgoing : write.messagesAfterPersist()) {
      leave(outgoing.to(), outgoing.message());
    }
    core().persisted(write.number());
    check();
  }

  /** Several writes share one forced write and one completion. */
  void forceTogether(int count) {
    SimDisk.Write last = disk.force();
    leaveAll(last);
    for (int i = 1; i < count; i++) {
      last = disk.force();
      leaveAll(last);
    }
    core().persisted(last.number());
    check();
  }

  private void leaveAll(SimDisk.Write write) {
    write.messagesAfterPersist().forEach(outgoing -> leave(outgoing.to(), outgoing.message()));
  }

  /** True if the state machine can continue. */
  boolean canApply() {
    Work next = toApply.peekFirst();
    SnapshotMark mark = next == null ? null : next.install();
    return next != null && (mark == null || disk.applied() >= mark.index());
  }

  void applyOldest() {
    Work work = toApply.removeFirst();
    SnapshotMark mark = work.install();
    if (mark != null) {
      cluster.installed(mark);
      membership = mark.membership();
      core().applied(mark.index());
      check();
      return;
    }
    List<Entry> entries = work.entries();
    for (Entry entry : entries) {
      cluster.applied(this, entry);
      if (entry.kind() == Entry.Kind.CONF_CHANGE) {
        membership = MembershipCodec.decodeEntry(entry.data()).after();
      }
    }
    core().applied(entries.get(entries.size() - 1).index());
    check();
  }

  /** Membership as in the state machine. */
  Membership appliedMembership() {
    return membership;
  }

  void flushMachine() {
    disk.flushApplied(core().status().applied(), membership);
  }

  /** The oldest transfer of a snapshot finishes, unless no recent enough snapshot exists yet. */
  void finishTransfer(boolean ok) {
    SnapshotTransfer transfer = transfers.removeFirst();
    long index = core().status().applied();
    if (index < transfer.atLeast()) {
      transfers.addLast(transfer);
      return;
    }
    if (ok) {
      SnapshotMark mark = new SnapshotMark(index, core().log.termAt(index), membership);
      PeerMessage message = new PeerMessage.InstallSnapshot(transfer.term(), mark);
      cluster.network.add(new SimCluster.Flight(id, transfer.to(), message));
    }
    core().snapshotSent(transfer.to(), transfer.number(), index, ok);
    check();
  }

  /** The disk completes the oldest read of entries. */
  void answerQuestion() {
    LogReadRequest request = logReads.removeFirst();
    core()
        .logRead(
            request.to(),
            request.from(),
            disk.read(request.from(), request.until(), request.maxBytes()));
    check();
  }

  void compact(long index) {
    core().compactLog(index);
    disk.compact(index);
    check();
  }

  void read(long readId) {
    openReads.put(readId, cluster.truthLength());
    core().requestRead(readId);
    check();
  }

  /** Rules that hold between any two inputs. */
  void check() {
    RaftStatus status = core().status();
    require(status.commit() >= lastCommit, "commit index decreased", status.commit(), lastCommit);
    lastCommit = status.commit();
    require(status.commit() <= status.lastIndex(), "commit past the log");
    require(status.applied() <= sentToApply, "applied more than was sent");
    boolean installing = toApply.stream().anyMatch(work -> work.install() != null);
    require(
        sentToApply <= status.commit() && (installing || sentToApply <= disk.lastIndex()),
        "sent uncommitted entries",
        sentToApply,
        status.commit());
  }

  @Override
  public void persist(
      long number, HardState state, List<Entry> entries, List<Outgoing> messagesAfterPersist) {
    cluster.trace(
        id,
        () ->
            "persist term="
                + state.term()
                + " vote="
                + state.vote()
                + " commit="
                + state.commit()
                + " entries="
                + SimTrace.of(entries)
                + " then="
                + SimTrace.outgoing(messagesAfterPersist));
    RaftLog log = core().log;
    for (Entry entry : entries) {
      cluster.appended(entry, log.termAt(entry.index() - 1));
    }
    disk.unforced.addLast(new SimDisk.Write(number, state, entries, null, messagesAfterPersist));
  }

  @Override
  public void installSnapshot(
      long number,
      HardState before,
      HardState state,
      SnapshotMark mark,
      List<Outgoing> messagesAfterPersist) {
    cluster.trace(
        id,
        () ->
            "install snapshot="
                + mark.index()
                + "@"
                + mark.term()
                + " then="
                + SimTrace.outgoing(messagesAfterPersist));
    require(state.commit() == mark.index(), "snapshot is not committed");
    disk.unforced.addLast(
        new SimDisk.Write(
            number, state, List.of(), new SimDisk.Install(before, mark), messagesAfterPersist));
    sentToApply = mark.index();
    toApply.addLast(new Work(List.of(), mark));
  }

  @Override
  public void sendSnapshot(NodeId to, long transfer, long term, long atLeast) {
    cluster.trace(id, () -> "send snapshot to " + to + " t" + term + " atLeast=" + atLeast);
    require(
        transfers.stream().noneMatch(t -> t.to().equals(to) && t.term() == term),
        "two snapshots for one member");
    transfers.addLast(new SnapshotTransfer(to, transfer, term, atLeast));
    cluster.snapshots++;
  }

  @Override
  public void readLog(NodeId to, long from, long until, long maxBytes) {
    cluster.trace(id, () -> "read log for " + to + " [" + from + "," + until + ")");
    logReads.addLast(new LogReadRequest(to, from, until, maxBytes));
    cluster.logReads++;
  }

  @Override
  public void transferRefused(NodeId to, Refusal reason) {
    cluster.trace(id, () -> "transfer refused " + to + " " + reason);
  }

  @Override
  public void membershipChanged(Membership now) {
    cluster.trace(id, () -> "membership " + SimTrace.of(now));
    cluster.configured(now);
  }

  @Override
  public void removed() {
    cluster.trace(id, () -> "removed");
    require(cluster.isRemoved(id), "removal that is not committed");
    removed = true;
  }

  @Override
  public void send(NodeId to, PeerMessage message) {
    cluster.trace(id, () -> "send " + to + " " + SimTrace.of(message));
    leave(to, message);
  }

  /** Entries that a message requires must be durable by now. */
  private void leave(NodeId to, PeerMessage message) {
    HardState durable = disk.state();
    if (message instanceof PeerMessage.AppendReply reply && !reply.rejected()) {
      require(reply.term() <= durable.term(), "reply before its term is durable");
      require(
          reply.index() <= disk.lastIndex(),
          "reply before durable",
          reply.index(),
          disk.lastIndex());
    }
    if (message instanceof PeerMessage.VoteReply reply && !reply.preVote() && reply.granted()) {
      boolean stored = durable.term() == reply.term() && durable.vote().equals(to);
      require(stored || durable.term() > reply.term(), "vote before durable");
    }
    if (message instanceof PeerMessage.RequestVote request && !request.preVote()) {
      require(durable.term() >= request.term(), "candidate before its vote is durable");
    }
    cluster.network.add(new SimCluster.Flight(id, to, message));
  }

  @Override
  public void apply(List<Entry> committed) {
    cluster.trace(id, () -> "apply " + SimTrace.of(committed));
    require(!committed.isEmpty(), "empty apply");
    for (Entry entry : committed) {
      require(
          entry.index() == sentToApply + 1,
          "applied twice or with a gap",
          entry.index(),
          sentToApply);
      require(
          entry.index() <= disk.lastIndex(),
          "applied before durable here",
          entry.index(),
          disk.lastIndex());
      sentToApply = entry.index();
    }
    toApply.addLast(new Work(committed, null));
  }

  @Override
  public void releaseRead(long readId, long readIndex) {
    cluster.trace(id, () -> "release read=" + readId + " index=" + readIndex);
    Long known = openReads.remove(readId);
    if (known == null) {
      throw new Invariant.Broken("read " + readId + " released twice or never asked");
    }
    require(readIndex >= known, "stale read", readIndex, known);
    releasedReads.put(readId, readIndex);
    cluster.releases++;
  }

  @Override
  public void rejectRead(long readId, Refusal reason) {
    cluster.trace(id, () -> "reject read=" + readId + " " + reason);
    openReads.remove(readId);
  }

  @Override
  public void reject(RequestId request, Refusal reason) {
    cluster.trace(id, () -> "reject " + request + " " + reason);
    cluster.rejected(request);
  }

  @Override
  public void roleChanged(RaftStatus status) {
    cluster.trace(
        id,
        () -> "role " + status.role() + " term=" + status.term() + " leader=" + status.leader());
    if (status.role() == RaftRole.LEADER) {
      cluster.elected(this, status.term());
    }
  }
}
