package io.troupe.simulation.world;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.machine.StateMachine;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.raft.Outgoing;
import io.troupe.raft.RaftState;
import io.troupe.raft.SnapshotMark;
import io.troupe.raft.membership.Membership;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A member's disk: log, state and newest snapshot. The log keeps forced writes, the state keeps
 * flushed ones, and a crash loses the rest. An entry at an index replaces the entries at that index
 * and after it, as in the real log.
 */
final class SimDisk {
  /** A persist, or the installation of a snapshot, that is not durable yet. */
  record Write(
      long number,
      HardState state,
      List<Entry> entries,
      @Nullable Install install,
      List<Outgoing> messagesAfterPersist) {}

  /** A snapshot that replaces log and state, and the hard state that is stored before that. */
  record Install(HardState before, Snapshot snapshot) {}

  /** A snapshot and its content. */
  record Snapshot(SnapshotMark mark, DigestStore content) {}

  private final ArrayDeque<Write> unforced = new ArrayDeque<>();
  private final List<Entry> entries = new ArrayList<>();
  private HardState state = HardState.INITIAL;
  private long snapshotIndex;
  private long snapshotTerm;
  private DigestStore flushed = new DigestStore();
  private long flushedIndex;

  /** All snapshots by index, including received ones that are not installed. */
  private final TreeMap<Long, Snapshot> snapshots = new TreeMap<>();

  /** The newest snapshot that this member created or installed. */
  private @Nullable Snapshot snapshot;

  /** Sets the initial content for a founding member of a new cluster. */
  void fill(RaftState bootstrap) {
    state = bootstrap.hardState();
    entries.addAll(bootstrap.entries());
  }

  void write(Write write) {
    unforced.addLast(write);
  }

  int unforcedCount() {
    return unforced.size();
  }

  HardState state() {
    return state;
  }

  long lastIndex() {
    return snapshotIndex + entries.size();
  }

  /** Last index that was removed from the log. */
  long compactedTo() {
    return snapshotIndex;
  }

  /** The state on disk, as far as it was flushed. */
  DigestStore flushedState() {
    return flushed;
  }

  @Nullable Snapshot snapshot() {
    return snapshot;
  }

  /** Term of an index in the log after all writes are forced; -1 if it is not in the log. */
  long termAfterAll(long index) {
    for (Iterator<Write> newestFirst = unforced.descendingIterator(); newestFirst.hasNext(); ) {
      Write write = newestFirst.next();
      if (!write.entries().isEmpty() && write.entries().get(0).index() <= index) {
        long at = index - write.entries().get(0).index();
        return at < write.entries().size() ? write.entries().get((int) at).term() : -1;
      }
      Install install = write.install();
      if (install != null) {
        SnapshotMark mark = install.snapshot().mark();
        return mark.index() == index ? mark.term() : -1;
      }
    }
    return termOnDisk(index);
  }

  private long termOnDisk(long index) {
    if (index == snapshotIndex) {
      return snapshotTerm;
    }
    return index > snapshotIndex && index <= lastIndex()
        ? entries.get((int) (index - snapshotIndex - 1)).term()
        : -1;
  }

  /** Makes the oldest write durable. */
  Write force() {
    Write write = unforced.removeFirst();
    Install install = write.install();
    if (install != null) {
      store(install.before());
      restart(install.snapshot());
    }
    store(write.state());
    for (Entry entry : write.entries()) {
      require(
          entry.index() > snapshotIndex && entry.index() <= lastIndex() + 1, "gap on disk", entry);
      while (lastIndex() >= entry.index()) {
        entries.remove(entries.size() - 1);
      }
      entries.add(entry);
    }
    return write;
  }

  private void store(HardState next) {
    require(next.term() >= state.term(), "term sinks on disk", next, state);
    require(next.commit() >= state.commit(), "commit sinks on disk", next, state);
    require(
        next.term() > state.term() || state.vote().isNone() || state.vote().equals(next.vote()),
        "two votes in a term",
        next,
        state);
    state = next;
  }

  /** Restarts the log after the snapshot. From here on a start also replaces the state. */
  private void restart(Snapshot install) {
    require(install.mark().index() > flushedIndex, "older snapshot installed", install.mark());
    entries.clear();
    snapshotIndex = install.mark().index();
    snapshotTerm = install.mark().term();
    keep(install);
    flushed = install.content().copy();
    flushedIndex = snapshotIndex;
  }

  /**
   * Writes the state up to an applied index to disk. Older flushes that finish late change nothing.
   */
  void flush(DigestStore content, long appliedIndex) {
    if (appliedIndex > flushedIndex) {
      flushed = content;
      flushedIndex = appliedIndex;
    }
  }

  /** Stores a snapshot of this member. The disk keeps the newest two snapshots. */
  void save(Snapshot saved) {
    Snapshot before = snapshot;
    if (before == null || before.mark().index() < saved.mark().index()) {
      keep(saved);
      flush(saved.content().copy(), saved.mark().index());
      while (snapshots.size() > 2) {
        snapshots.pollFirstEntry();
      }
    }
  }

  /** Stores a snapshot of another member. The log may never reach it. */
  void receive(Snapshot received) {
    snapshots.put(received.mark().index(), received);
  }

  private void keep(Snapshot own) {
    snapshot = own;
    snapshots.put(own.mark().index(), own);
  }

  /** Removes entries up to an index from the log. */
  void compact(long index) {
    if (index > snapshotIndex) {
      snapshotTerm = entries.get((int) (index - snapshotIndex - 1)).term();
      entries.subList(0, (int) (index - snapshotIndex)).clear();
      snapshotIndex = index;
    }
  }

  /** Returns durable entries, at least one if the first one exists. */
  List<Entry> read(long from, long until, long maxBytes) {
    List<Entry> out = new ArrayList<>();
    long bytes = 0;
    for (long i = from; i < until && i > snapshotIndex && i <= lastIndex(); i++) {
      Entry entry = entries.get((int) (i - snapshotIndex - 1));
      bytes += entry.data().length();
      if (!out.isEmpty() && bytes > maxBytes) {
        break;
      }
      out.add(entry);
    }
    return List.copyOf(out);
  }

  /**
   * The process crashes. Of the unforced writes the first {@code survivors} reach the disk, and of
   * the next one {@code torn} entries and no commit index, because a long batch is several records.
   * An installation stops after its first step, or after its second.
   */
  void crash(int survivors, int torn, Coverage coverage) {
    for (int i = 0; i < survivors && !unforced.isEmpty(); i++) {
      force();
    }
    Write next = unforced.peekFirst();
    Install install = next == null ? null : next.install();
    if (install != null && torn > 0) {
      store(install.before());
      coverage.count("installations cut short by a crash");
      if (torn > 1) {
        restart(install.snapshot());
      }
    }
    if (next != null && torn > 0 && next.entries().size() > torn) {
      HardState late = next.state();
      HardState early = new HardState(late.term(), late.vote(), state.commit());
      unforced.clear();
      unforced.add(new Write(0, early, next.entries().subList(0, torn), null, List.of()));
      force();
      coverage.count("batches torn by a crash");
    }
    if (!unforced.isEmpty()) {
      coverage.count("unforced writes lost", unforced.size());
    }
    unforced.clear();
  }

  /** Loses the state and restores it from the newest snapshot. Returns false if there is none. */
  boolean loseState() {
    Snapshot newest = latestInLog();
    if (newest == null) {
      return false;
    }
    flushed = newest.content().copy();
    flushedIndex = newest.mark().index();
    return true;
  }

  /** The newest snapshot from which the log continues. */
  private @Nullable Snapshot latestInLog() {
    for (Snapshot newest : snapshots.descendingMap().values()) {
      long index = newest.mark().index();
      if (index >= snapshotIndex && termOnDisk(index) == newest.mark().term()) {
        return newest;
      }
    }
    return null;
  }

  /**
   * Returns what the member recovers when it starts, in addition to the state machine on the
   * flushed state.
   */
  RaftState recover(NodeId self, StateMachine machine) {
    return new RaftState(
        self,
        state,
        membership(machine),
        snapshotIndex,
        snapshotTerm,
        entries,
        machine.appliedIndex());
  }

  static Membership membership(StateMachine machine) {
    return machine.view().membership();
  }
}
