package io.troupe.raft;

import static io.troupe.model.Invariant.require;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.raft.membership.Membership;
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
  final SimDisk disk = new SimDisk();
  final ArrayDeque<List<Entry>> toApply = new ArrayDeque<>();
  final Map<Long, Long> openReads = new HashMap<>();
  final Map<Long, Long> releasedReads = new HashMap<>();
  private final SimCluster cluster;
  private final Membership membership;
  private final RaftSettings settings;
  private @Nullable RaftCore core;
  private long handedOut;
  private long lastCommit;

  SimNode(NodeId id, SimCluster cluster, Membership membership, RaftSettings settings) {
    this.id = id;
    this.cluster = cluster;
    this.membership = membership;
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
    RaftState recovered = disk.recover(id, membership);
    handedOut = recovered.applied();
    lastCommit = 0;
    RaftCore started = new RaftCore(recovered, settings, new SplittableRandom(seed), this, disk);
    core = started;
    started.start();
    check();
  }

  void crash(int survivors) {
    disk.crash(Math.min(survivors, disk.unforced.size()));
    core = null;
    toApply.clear();
    openReads.clear();
  }

  /** The disk finishes its oldest write; the answer comes at once, the messages leave. */
  void force() {
    SimDisk.Write write = disk.force();
    for (Outgoing outgoing : write.thenSend()) {
      leave(outgoing.to(), outgoing.message());
    }
    core().persisted(write.state().term(), write.lastIndex());
    check();
  }

  /** Several writes share one forced write and one answer. */
  void forceTogether(int count) {
    SimDisk.Write last = disk.force();
    leaveAll(last);
    for (int i = 1; i < count; i++) {
      last = disk.force();
      leaveAll(last);
    }
    core().persisted(last.state().term(), last.lastIndex());
    check();
  }

  private void leaveAll(SimDisk.Write write) {
    write.thenSend().forEach(outgoing -> leave(outgoing.to(), outgoing.message()));
  }

  void applyOldest() {
    List<Entry> entries = toApply.removeFirst();
    for (Entry entry : entries) {
      cluster.applied(this, entry);
    }
    core().applied(entries.get(entries.size() - 1).index());
    check();
  }

  void flushMachine() {
    disk.flushApplied(core().status().applied());
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
    require(status.commit() >= lastCommit, "commit went back", status.commit(), lastCommit);
    lastCommit = status.commit();
    require(status.commit() <= status.lastIndex(), "commit past the log");
    require(status.applied() <= handedOut, "applied more than handed out");
    require(
        handedOut <= Math.min(status.commit(), disk.lastIndex()),
        "handed out too much",
        handedOut,
        status.commit());
  }

  @Override
  public void persist(HardState state, List<Entry> entries, List<Outgoing> thenSend) {
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
                + SimTrace.outgoing(thenSend));
    RaftLog log = core().log;
    for (Entry entry : entries) {
      cluster.appended(entry, log.termAt(entry.index() - 1));
    }
    disk.unforced.addLast(new SimDisk.Write(state, entries, thenSend));
  }

  @Override
  public void send(NodeId to, PeerMessage message) {
    cluster.trace(id, () -> "send " + to + " " + SimTrace.of(message));
    leave(to, message);
  }

  /** What a message promises must be on the disk by now. */
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
          entry.index() == handedOut + 1, "applied twice or with a gap", entry.index(), handedOut);
      require(
          entry.index() <= disk.lastIndex(),
          "applied before durable here",
          entry.index(),
          disk.lastIndex());
      handedOut = entry.index();
    }
    toApply.addLast(committed);
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
