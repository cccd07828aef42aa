package io.troupe.persistence.wal;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.persistence.wal.SegmentScanner.Found;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The state of one {@link WalReplay#read}: the result of the records so far. */
final class ReplayRun {
  /** Everything written before a segment's first record is forced is below this byte. */
  private static final long CREATION_BYTES = 4096;

  private static final int ENTRY_OVERHEAD_BYTES = 64;

  /**
   * Entries that stay in memory.
   *
   * @param skipThrough all entries above it, except
   * @param skipCommitted if true, those that a hard state in the log marks as committed
   * @param recentBytes size limit for the newest of the other entries
   */
  record Keep(long skipThrough, boolean skipCommitted, long recentBytes) {}

  private final boolean skipCommitted;
  private long skipThrough;
  private final List<WalReplay.Segment> segments = new ArrayList<>();
  private final List<Entry> tail = new ArrayList<>();
  private final Deque<Entry> recent = new ArrayDeque<>();
  private final EntryOffsets places = new EntryOffsets();
  private final long recentBytes;
  private long recentHeld;
  private HardState hardState = HardState.INITIAL;
  private long firstSegment;
  private long compactedIndex;
  private long lastIndex;

  /** Number of the next record; 0 before the first segment's first record. */
  private long expected;

  private @Nullable SegmentName lastGood;
  private long lastGoodEnd;

  ReplayRun(Keep keep, long firstSegment) {
    this.recentBytes = keep.recentBytes();
    this.skipCommitted = keep.skipCommitted();
    this.skipThrough = keep.skipThrough();
    this.firstSegment = firstSegment;
    this.expected = firstSegment == 1 ? 1 : 0;
  }

  void readSegment(Path wal, SegmentName name) throws IOException {
    if (segments.isEmpty() && name.number() != firstSegment) {
      throw new WalCorruptException(
          name.text(), 0, "segment " + firstSegment + " is needed but missing");
    }
    Path file = name.dataFile(wal);
    if (!Files.exists(file)) {
      return;
    }
    Tally tally = new Tally();
    try (SegmentScanner scanner = new SegmentScanner(file, name)) {
      boolean cut = false;
      for (Found found = scanner.next(); found != null; found = scanner.next()) {
        if (accepts(name, found, tally, cut)) {
          WalPayload payload = decode(name, found);
          apply(name, found, payload, tally);
          tally.records++;
          tally.end = found.end();
          expected = found.record().sequence() + 1;
          lastGood = name;
          lastGoodEnd = found.end();
        } else {
          cut = true;
        }
      }
      if (tally.records == 0 && !cut && !scanner.zeroFrom(CREATION_BYTES)) {
        throw new WalCorruptException(
            name.text(), 0, "no complete record, but more data than a crash at creation leaves");
      }
    }
    if (tally.records > 0) {
      segments.add(
          new WalReplay.Segment(
              name.number(), name.text(), tally.end, tally.maxIndex, tally.records));
    }
  }

  WalReplay finish(Path wal) throws IOException {
    String torn = null;
    SegmentName last = lastGood;
    if (last != null) {
      try (SegmentScanner scanner = new SegmentScanner(last.dataFile(wal), last)) {
        if (!scanner.zeroFrom(lastGoodEnd)) {
          torn = "segment " + last.text() + " from byte " + lastGoodEnd;
        }
      }
    }
    List<Entry> entries = new ArrayList<>(recent);
    entries.addAll(tail);
    return new WalReplay(
        hardState,
        List.copyOf(entries),
        compactedIndex,
        lastIndex,
        firstSegment,
        Math.max(expected - 1, 0),
        List.copyOf(segments),
        torn,
        places);
  }

  static WalPayload decode(SegmentName name, Found found) {
    try {
      return WalPayload.decode(found.record().type(), found.record().payload());
    } catch (IllegalArgumentException e) {
      throw new WalCorruptException(
          name.text(), found.position(), "invalid record: " + e.getMessage());
    }
  }

  /**
   * True if the record is the next one.
   *
   * @param cut true if an earlier record of the segment was not
   */
  private boolean accepts(SegmentName name, Found found, Tally tally, boolean cut) {
    WalRecord record = found.record();
    if (tally.records == 0 && !cut) {
      if (record.type() != WalPayload.TYPE_SEGMENT) {
        throw new WalCorruptException(name.text(), 0, "the segment's first record is missing");
      }
      if (expected == 0) {
        return true;
      }
      if (record.sequence() < expected) {
        throw new WalCorruptException(
            name.text(), found.position(), "numbering restarts at record " + record.sequence());
      }
    }
    if (record.sequence() == expected && !cut) {
      return true;
    }
    if (record.forced() >= expected) {
      SegmentName at = lastGood == null ? name : lastGood;
      throw new WalCorruptException(
          at.text(),
          lastGoodEnd,
          "record "
              + expected
              + " is missing or damaged, but was forced before record "
              + record.sequence()
              + " of segment "
              + name.text()
              + " was written");
    }
    return false;
  }

  private void apply(SegmentName name, Found found, WalPayload payload, Tally tally) {
    if (payload instanceof WalPayload.SegmentStart start) {
      begin(name, found, start, tally);
    } else if (payload instanceof WalPayload.Batch batch) {
      if (batch.state() != null) {
        hardState = batch.state();
      }
      if (!batch.entries().isEmpty()) {
        places.wrote(batch.entries(), name, found.position());
      }
      for (Entry entry : batch.entries()) {
        add(name, found, entry);
        tally.maxIndex = Math.max(tally.maxIndex, entry.index());
      }
      skipCommitted();
    } else if (payload instanceof WalPayload.Compacted covered) {
      cover(covered);
    }
  }

  private void begin(SegmentName name, Found found, WalPayload.SegmentStart start, Tally tally) {
    boolean fits = tally.records == 0 && start.number() == name.number();
    if (segments.isEmpty()) {
      hardState = start.state();
      compactedIndex = start.compactedIndex();
      lastIndex = start.lastIndex();
      places.restartAfter(lastIndex);
    } else {
      fits &= start.compactedIndex() == compactedIndex && start.lastIndex() == lastIndex;
      fits &= start.state().equals(hardState);
    }
    if (!fits) {
      throw new WalCorruptException(
          name.text(), found.position(), "segment does not continue the previous one");
    }
  }

  private void add(SegmentName name, Found found, Entry entry) {
    if (entry.index() > lastIndex + 1 || entry.index() <= compactedIndex) {
      throw new WalCorruptException(
          name.text(),
          found.position(),
          "entry "
              + entry.index()
              + " cannot follow "
              + lastIndex
              + " above compacted index "
              + compactedIndex);
    }
    truncateFrom(entry.index());
    if (entry.index() > skipThrough) {
      tail.add(entry);
    } else {
      addRecent(entry);
    }
    lastIndex = entry.index();
  }

  /** Committed entries are read again when they are applied; until then they need no memory. */
  private void skipCommitted() {
    if (!skipCommitted || hardState.commit() <= skipThrough) {
      return;
    }
    skipThrough = hardState.commit();
    int committed = 0;
    while (committed < tail.size() && tail.get(committed).index() <= skipThrough) {
      addRecent(tail.get(committed));
      committed++;
    }
    tail.subList(0, committed).clear();
  }

  private void addRecent(Entry entry) {
    recent.addLast(entry);
    recentHeld += entry.data().length() + ENTRY_OVERHEAD_BYTES;
    while (recentHeld > recentBytes && !recent.isEmpty()) {
      dropOldest();
    }
  }

  private void dropOldest() {
    recentHeld -= recent.removeFirst().data().length() + ENTRY_OVERHEAD_BYTES;
  }

  private void truncateFrom(long index) {
    while (!recent.isEmpty() && recent.getLast().index() >= index) {
      recentHeld -= recent.removeLast().data().length() + ENTRY_OVERHEAD_BYTES;
    }
    if (!tail.isEmpty() && index <= lastIndex) {
      long keep = Math.max(0, index - tail.get(0).index());
      tail.subList((int) Math.min(keep, tail.size()), tail.size()).clear();
    }
  }

  private void cover(WalPayload.Compacted covered) {
    compactedIndex = covered.compactedIndex();
    places.dropSegmentsBelow(covered.firstSegment());
    while (!recent.isEmpty() && recent.getFirst().index() <= compactedIndex) {
      dropOldest();
    }
    firstSegment = Math.max(firstSegment, covered.firstSegment());
    if (covered.restart() || lastIndex < compactedIndex) {
      places.restartAfter(compactedIndex);
      recent.clear();
      recentHeld = 0;
      tail.clear();
      lastIndex = compactedIndex;
    } else if (!tail.isEmpty()) {
      long drop = Math.max(0, compactedIndex + 1 - tail.get(0).index());
      tail.subList(0, (int) Math.min(drop, tail.size())).clear();
    }
  }

  private static final class Tally {
    private long records;
    private long end;
    private long maxIndex;
  }
}
