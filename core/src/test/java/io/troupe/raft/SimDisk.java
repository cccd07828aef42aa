package io.troupe.raft;

import static io.troupe.model.Invariant.require;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.raft.membership.Membership;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A disk that makes writes durable only on request, in order, and loses the others in a crash.
 * Reads like the log is replayed: a later entry at an index replaces everything at that index and
 * above.
 */
final class SimDisk {
  /** One persist, or one installation of a snapshot, that is not durable yet. */
  record Write(
      long number,
      HardState state,
      List<Entry> entries,
      @Nullable Install install,
      List<Outgoing> messagesAfterPersist) {}

  /** A snapshot, and the hard state that is stored before the log restarts. */
  record Install(HardState before, SnapshotMark mark) {}

  final ArrayDeque<Write> unforced = new ArrayDeque<>();
  private final List<Entry> entries = new ArrayList<>();
  private HardState state = HardState.INITIAL;
  private Membership membership;
  private long snapshotIndex;
  private long snapshotTerm;
  private long applied;

  SimDisk(Membership membership) {
    this.membership = membership;
  }

  /** The recovered state of an initial member of a new cluster. */
  void fill(RaftState bootstrap) {
    state = bootstrap.hardState();
    membership = bootstrap.membership();
    entries.addAll(bootstrap.entries());
  }

  HardState state() {
    return state;
  }

  /** Membership as of {@link #applied}. */
  Membership membership() {
    return membership;
  }

  long applied() {
    return applied;
  }

  long lastIndex() {
    return snapshotIndex + entries.size();
  }

  /** Makes the oldest write durable. */
  Write force() {
    Write write = unforced.removeFirst();
    Install install = write.install();
    if (install != null) {
      store(install.before());
      restart(install.mark());
    }
    store(write.state());
    for (Entry entry : write.entries()) {
      require(entry.index() > snapshotIndex && entry.index() <= lastIndex() + 1, "gap on disk");
      while (lastIndex() >= entry.index()) {
        entries.remove(entries.size() - 1);
      }
      entries.add(entry);
    }
    return write;
  }

  private void store(HardState next) {
    require(next.term() >= state.term(), "term sinks on disk", next.term(), state.term());
    require(next.commit() >= state.commit(), "commit sinks on disk", next.commit(), state.commit());
    require(
        next.term() > state.term() || state.vote().isNone() || state.vote().equals(next.vote()),
        "two votes in a term",
        next.vote().value(),
        state.vote().value());
    state = next;
  }

  /** The log restarts after the snapshot; from here on a start replaces the state too. */
  private void restart(SnapshotMark mark) {
    require(mark.index() > applied, "older snapshot installed", mark.index(), applied);
    entries.clear();
    snapshotIndex = mark.index();
    snapshotTerm = mark.term();
    flushApplied(mark.index(), mark.membership());
  }

  /** The state machine flushed up to {@code index}. */
  void flushApplied(long index, Membership asOfIndex) {
    if (index > applied) {
      applied = index;
      membership = asOfIndex;
    }
  }

  /** A snapshot up to {@code index} is durable. */
  void compact(long index) {
    if (index > snapshotIndex) {
      snapshotTerm = entries.get((int) (index - snapshotIndex - 1)).term();
      entries.subList(0, (int) (index - snapshotIndex)).clear();
      snapshotIndex = index;
    }
  }

  /**
   * The process crashes. The first {@code survivors} unforced writes happened to reach the disk,
   * and up to {@code torn} entries of the next one: a long batch is several records, of which the
   * last one contains the commit index. An installation is cut after its first or its second step.
   */
  void crash(int survivors, int torn) {
    for (int i = 0; i < survivors; i++) {
      force();
    }
    Write next = unforced.peekFirst();
    Install install = next == null ? null : next.install();
    if (install != null && torn > 0) {
      store(install.before());
      if (torn > 1) {
        restart(install.mark());
      }
    }
    if (next != null && torn > 0 && next.entries().size() > torn) {
      HardState late = next.state();
      HardState early = new HardState(late.term(), late.vote(), state.commit());
      unforced.clear();
      unforced.add(new Write(0, early, next.entries().subList(0, torn), null, List.of()));
      force();
    }
    unforced.clear();
  }

  RaftState recover(NodeId self) {
    return new RaftState(self, state, membership, snapshotIndex, snapshotTerm, entries, applied);
  }

  /** A run of durable entries; empty if the first one is compacted. */
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
}
