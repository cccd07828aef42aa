package io.troupe.raft;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.Invariant;
import java.util.List;

/**
 * The log of one member: a snapshot position, then entries without gaps, of which the newer ones
 * are in memory and all have known terms. A ring with O(1) access by index. Stores the committed
 * and the durable index; makes no decisions.
 *
 * <pre>
 *   snapshotIndex    firstInMemory     min(commit, stable)        lastIndex
 *        |--- on disk ---|------- in memory -------|------- in memory ---|
 * </pre>
 */
final class RaftLog {
  /** Charged for each entry in memory in addition to its data. */
  static final int ENTRY_OVERHEAD_BYTES = 64;

  private static final Entry VACANT = new Entry(0, 0, Entry.Kind.NOOP, Bytes.EMPTY);

  private final TermIndex terms;
  private Entry[] ring = new Entry[256];
  private int head;
  private int size;
  private long snapshotIndex;
  private long firstInMemory;
  private long bytes;
  private long commit;
  private long stable;

  /** Starts with the recovered log, which is durable. */
  RaftLog(RaftState recovered) {
    this.snapshotIndex = recovered.snapshotIndex();
    this.firstInMemory = snapshotIndex + 1;
    this.terms = new TermIndex(snapshotIndex, recovered.snapshotTerm());
    for (Entry entry : recovered.entries()) {
      append(entry);
    }
    this.stable = lastIndex();
    this.commit = Math.max(recovered.hardState().commit(), recovered.applied());
  }

  long firstIndex() {
    return snapshotIndex + 1;
  }

  long lastIndex() {
    return firstInMemory + size - 1;
  }

  /** Lowest index whose entry is in memory; lastIndex() + 1 if none is. */
  long firstInMemory() {
    return firstInMemory;
  }

  long lastTerm() {
    return terms.at(lastIndex());
  }

  long snapshotIndex() {
    return snapshotIndex;
  }

  long commit() {
    return commit;
  }

  /** Highest index that is durable on this member's disk, with everything below it. */
  long stable() {
    return stable;
  }

  long bytesInMemory() {
    return bytes;
  }

  /** Term of {@code index}; -1 if it is below the snapshot or above the last index. */
  long termAt(long index) {
    return index < snapshotIndex || index > lastIndex() ? -1 : terms.at(index);
  }

  /**
   * The highest index at or below {@code index} with a term of at most {@code term}; the snapshot's
   * if there is none.
   */
  long lastAtOrBelow(long index, long term) {
    return terms.lastAtOrBelow(Math.max(snapshotIndex, Math.min(index, lastIndex())), term);
  }

  /**
   * True if a log that ends at {@code index} in {@code term} contains everything that this one may
   * have committed (5.4.1).
   */
  boolean isUpToDate(long index, long term) {
    long lastTerm = lastTerm();
    return term > lastTerm || (term == lastTerm && index >= lastIndex());
  }

  /** Appends the next entry. */
  void append(Entry entry) {
    Invariant.require(
        entry.index() == lastIndex() + 1, "gap in the log", lastIndex(), entry.index());
    terms.append(entry.index(), entry.term());
    if (size == ring.length) {
      grow();
    }
    ring[(head + size) & (ring.length - 1)] = entry;
    size++;
    bytes += sizeOf(entry);
  }

  /** Removes {@code index} and everything above. */
  void truncateFrom(long index) {
    Invariant.require(index > commit, "truncation of a committed entry", index, commit);
    Invariant.require(
        index >= firstInMemory, "entry to truncate is not in memory", index, firstInMemory);
    while (lastIndex() >= index) {
      size--;
      int slot = (head + size) & (ring.length - 1);
      bytes -= sizeOf(ring[slot]);
      ring[slot] = VACANT;
    }
    terms.truncateFrom(index);
    stable = Math.min(stable, index - 1);
  }

  /**
   * Everything up to {@code index} is committed; an index at or below the commit index changes
   * nothing.
   */
  boolean commitTo(long index) {
    if (index <= commit) {
      return false;
    }
    Invariant.require(
        index <= lastIndex(), "commit index above the end of the log", index, lastIndex());
    commit = index;
    return true;
  }

  /**
   * Everything up to {@code index} is durable; an index at or below the stable one changes nothing.
   */
  void stableTo(long index) {
    Invariant.require(
        index <= lastIndex(), "durable index above the end of the log", index, lastIndex());
    stable = Math.max(stable, index);
  }

  /**
   * Returns a run of entries.
   *
   * @param from first index, inclusive; firstInMemory() &lt;= from &lt;= lastIndex() + 1
   * @param until index after the last one; at most lastIndex() + 1
   * @return contiguous from {@code from} on, oldest first, immutable; at least one if from &lt;
   *     until
   */
  List<Entry> slice(long from, long until, int maxEntries, long maxBytes) {
    Invariant.require(
        until <= lastIndex() + 1, "slice above the end of the log", until, lastIndex());
    if (from >= until) {
      return List.of();
    }
    Invariant.require(from >= firstInMemory, "slice is not in memory", from, firstInMemory);
    int most = (int) Math.min(maxEntries, until - from);
    int at = head + (int) (from - firstInMemory);
    int n = 0;
    long total = 0;
    while (n < most) {
      total += ring[(at + n) & (ring.length - 1)].data().length();
      if (n > 0 && total > maxBytes) {
        break;
      }
      n++;
    }
    Entry[] out = new Entry[n];
    for (int i = 0; i < n; i++) {
      out[i] = ring[(at + i) & (ring.length - 1)];
    }
    return List.of(out);
  }

  /**
   * True if the entries from {@code from} on reach {@code maxEntries} or {@code maxBytes}; they
   * must be in memory.
   */
  boolean fills(long from, int maxEntries, long maxBytes) {
    long waiting = lastIndex() + 1 - from;
    long total = 0;
    for (long index = from; index <= lastIndex() && waiting < maxEntries; index++) {
      total += get(index).data().length();
      if (total >= maxBytes) {
        return true;
      }
    }
    return waiting >= maxEntries;
  }

  /**
   * Checks entries that were read from the disk.
   *
   * @param from index of the first one, greater than snapshotIndex()
   */
  void requireOwn(long from, List<Entry> read) {
    for (int i = 0; i < read.size(); i++) {
      Entry entry = read.get(i);
      Invariant.require(
          entry.index() == from + i,
          "gap in the entries of the log reader",
          from + i,
          entry.index());
      Invariant.require(
          entry.term() == termAt(entry.index()),
          "log reader returned another term",
          entry.index(),
          entry.term());
    }
  }

  /** The entry at {@code index}, which must be in memory. */
  Entry get(long index) {
    Invariant.require(
        index >= firstInMemory && index <= lastIndex(), "not in memory", index, firstInMemory);
    return ring[(head + (int) (index - firstInMemory)) & (ring.length - 1)];
  }

  /**
   * Removes entries up to {@code upTo} from memory, oldest first, until the rest is below {@code
   * maxBytes}.
   */
  void trimMemory(long upTo, long maxBytes) {
    while (bytes >= maxBytes && firstInMemory <= upTo) {
      removeFirst();
    }
  }

  /** A durable snapshot covers everything up to {@code index}. */
  void compactTo(long index) {
    if (index <= snapshotIndex) {
      return;
    }
    Invariant.require(
        index <= Math.min(commit, stable),
        "compaction above the durable commit index",
        index,
        commit);
    terms.compactTo(index);
    snapshotIndex = index;
    while (firstInMemory <= index) {
      removeFirst();
    }
  }

  /**
   * A snapshot replaces everything; it is not durable yet.
   *
   * @param index last index it covers, greater than commit()
   */
  void restart(long index, long term) {
    Invariant.require(index > commit, "snapshot older than the log", index, commit);
    while (size > 0) {
      removeFirst();
    }
    terms.restart(index, term);
    snapshotIndex = index;
    firstInMemory = index + 1;
    commit = index;
    stable = Math.min(stable, index - 1);
  }

  private void removeFirst() {
    bytes -= sizeOf(ring[head]);
    ring[head] = VACANT;
    head = (head + 1) & (ring.length - 1);
    size--;
    firstInMemory++;
  }

  private void grow() {
    Entry[] larger = new Entry[2 * ring.length];
    int tail = ring.length - head;
    System.arraycopy(ring, head, larger, 0, tail);
    System.arraycopy(ring, 0, larger, tail, head);
    ring = larger;
    head = 0;
  }

  private static long sizeOf(Entry entry) {
    return entry.data().length() + (long) ENTRY_OVERHEAD_BYTES;
  }
}
