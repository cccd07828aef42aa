package io.troupe.simulation.world;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.machine.StateMachine;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.raft.RaftState;
import io.troupe.raft.SnapshotMark;
import io.troupe.raft.membership.Membership;
import io.troupe.snapshot.LogExtent;
import io.troupe.snapshot.LogTerms;
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
final class SimDisk implements LogTerms {
  /** A record of the log that is not durable yet. */
  sealed interface Write {}

  /** A state, and entries that replace those at their indices and above. */
  record Append(HardState state, List<Entry> entries) implements Write {}

  /** The log has no entries and continues after a snapshot, which also replaces the state. */
  record Restart(Snapshot snapshot) implements Write {}

  /** A snapshot and its content. */
  record Snapshot(SnapshotMark mark, DigestStore content) {}

  /** Records in their order: those that the wal actor has written, then those in its mailbox. */
  private final ArrayDeque<Write> unforced = new ArrayDeque<>();

  /** Number of unforced records that are written. */
  private int written;

  /** Highest index that was durable since the process started. */
  private long durableIndex;

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

  /** Adds a record that the raft actor has sent to the wal actor. */
  void plan(HardState next, List<Entry> more) {
    unforced.addLast(new Append(next, more));
  }

  /** The wal actor writes the next planned record, or one of its own. */
  void write(HardState next, List<Entry> more) {
    Append record = new Append(next, more);
    if (written == unforced.size()) {
      unforced.addLast(record);
    }
    written++;
    require(
        unforced.stream().skip(written - 1L).findFirst().orElseThrow().equals(record),
        "another record is written than the raft actor planned",
        record);
  }

  /** The wal actor writes a record that restarts the log. */
  void restartAfter(Snapshot snapshot) {
    require(written == unforced.size(), "records after an installation", unforced.size());
    unforced.addLast(new Restart(snapshot));
    written++;
  }

  HardState state() {
    return state;
  }

  /** Highest index that was durable since the start of the process; the log may end before it. */
  long durableIndex() {
    return Math.max(durableIndex, lastIndex());
  }

  long lastIndex() {
    return snapshotIndex + entries.size();
  }

  /**
   * A process starts: returns its state as far as it was flushed. A log that begins after the state
   * was restarted by an installation: a snapshot replaces the state.
   */
  DigestStore openState() {
    if (flushedIndex < snapshotIndex) {
      require(loseState(), "no snapshot reaches the log", snapshotIndex, snapshots.keySet());
    }
    return flushed.copy();
  }

  @Nullable Snapshot snapshot() {
    return snapshot;
  }

  /**
   * Term of an index in the log after all writes are forced; {@link #NONE} if it is not in the log.
   */
  long termAfterAll(long index) {
    for (Iterator<Write> newestFirst = unforced.descendingIterator(); newestFirst.hasNext(); ) {
      Write write = newestFirst.next();
      if (write instanceof Restart restart) {
        SnapshotMark mark = restart.snapshot().mark();
        return mark.index() == index ? mark.term() : NONE;
      }
      List<Entry> its = ((Append) write).entries();
      if (!its.isEmpty() && its.get(0).index() <= index) {
        long at = index - its.get(0).index();
        return at < its.size() ? its.get((int) at).term() : NONE;
      }
    }
    return termOnDisk(index);
  }

  private long termOnDisk(long index) {
    return index == snapshotIndex ? snapshotTerm : index > snapshotIndex ? termAt(index) : NONE;
  }

  @Override
  public long compactedIndex() {
    return snapshotIndex;
  }

  @Override
  public long termAt(long index) {
    return index <= lastIndex() ? entries.get((int) (index - snapshotIndex - 1)).term() : NONE;
  }

  /** Makes all written records durable. */
  void force() {
    while (written > 0) {
      forceOldest();
    }
  }

  private void forceOldest() {
    written--;
    Write write = unforced.removeFirst();
    if (write instanceof Restart restart) {
      restart(restart.snapshot());
    } else if (write instanceof Append append) {
      store(append.state());
      append.entries().forEach(this::append);
    }
  }

  private void append(Entry entry) {
    require(
        entry.index() > snapshotIndex && entry.index() <= lastIndex() + 1, "gap on disk", entry);
    while (lastIndex() >= entry.index()) {
      entries.remove(entries.size() - 1);
    }
    entries.add(entry);
    durableIndex = Math.max(durableIndex, entry.index());
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

  /** The newest snapshot, also a received one. */
  @Nullable Snapshot latestSnapshot() {
    return snapshots.isEmpty() ? null : snapshots.lastEntry().getValue();
  }

  /** Index of the newest snapshot up to an index; 0 if there is none. */
  long newestSnapshot(long index) {
    Long newest = snapshots.floorKey(index);
    return newest == null ? 0 : newest;
  }

  /** Indexes of all snapshots, ascending. */
  List<Long> snapshotIndexes() {
    return List.copyOf(snapshots.keySet());
  }

  void deleteSnapshotsBefore(long index) {
    snapshots.headMap(index).clear();
  }

  /**
   * The log as segments.
   *
   * @param entriesEach entries of a segment
   */
  LogExtent extent(int entriesEach) {
    List<LogExtent.Segment> segments = new ArrayList<>();
    long bytes = 0;
    for (Entry entry : entries) {
      bytes += entry.data().length();
      if (entry.index() % entriesEach == 0) {
        segments.add(new LogExtent.Segment(entry.index(), bytes));
        bytes = 0;
      }
    }
    return new LogExtent(segments, bytes);
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
   * The process crashes. Of the written records the first {@code survivors} reach the disk, and of
   * the next one {@code torn} entries and no commit index, because a long batch is several records.
   */
  void crash(int survivors, int torn, Coverage coverage) {
    for (int i = 0; i < survivors && written > 0; i++) {
      forceOldest();
    }
    if (written > 0
        && torn > 0
        && unforced.element() instanceof Append next
        && next.entries().size() > torn) {
      store(new HardState(next.state().term(), next.state().vote(), state.commit()));
      next.entries().subList(0, torn).forEach(this::append);
      coverage.count("batches torn by a crash");
    }
    if (!unforced.isEmpty()) {
      coverage.count("unforced writes lost", unforced.size());
    }
    unforced.clear();
    written = 0;
    durableIndex = 0;
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
      if (continues(newest.mark().index(), newest.mark().term())) {
        return newest;
      }
    }
    return null;
  }

  /**
   * Returns what the member recovers when it starts, in addition to its state machine.
   *
   * @param machine has applied all entries that the log has as committed
   * @param before maximum number of applied entries that are kept in memory for other members
   */
  RaftState recover(NodeId self, StateMachine machine, int before) {
    long applied = machine.appliedIndex();
    long from = Math.max(snapshotIndex, applied - before);
    return RaftState.recovered(
        self,
        state,
        membership(machine),
        applied,
        machine.view().appliedTerm(),
        entries.subList((int) (from - snapshotIndex), entries.size()));
  }

  static Membership membership(StateMachine machine) {
    return machine.view().membership();
  }
}
