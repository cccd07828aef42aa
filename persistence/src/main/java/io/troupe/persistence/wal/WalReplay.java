package io.troupe.persistence.wal;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.snapshot.LogTerms;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Content of a log on disk, read once at start. Reading changes nothing on disk.
 *
 * <p>Later records win: an entry at index i removes all earlier entries at i and above. Records are
 * numbered without gaps, and each contains the number up to which the log was forced when it was
 * written. So a missing or damaged record ends the log if nothing proves that it was ever forced (a
 * torn tail), and is corruption if a later complete record, in this segment or another, proves that
 * it was.
 *
 * @param hardState last hard state; {@link HardState#INITIAL} for a new log
 * @param entries the last copy of the entries above both {@code compactedIndex} and the index to
 *     skip to, and before them the requested amount of older ones above the compacted index;
 *     contiguous, oldest first, immutable
 * @param compactedIndex entries at or below it are covered by a snapshot and may be removed: a
 *     state with a lower applied index must be restored from a snapshot before it can use the log
 * @param lastIndex index of the last entry, or the compacted index if there is none; may be below
 *     the applied index of the state if the disk lost the end of the log
 * @param firstSegment oldest segment that is still needed
 * @param lastSequence number of the last record, 0 for a new log
 * @param segments needed segments that contain a record, oldest first; immutable
 * @param tornTail start of a torn tail, or null if the log ends cleanly; for the operator's log
 * @param places positions of the entries; passed to the log that is opened
 */
public record WalReplay(
    HardState hardState,
    List<Entry> entries,
    long compactedIndex,
    long lastIndex,
    long firstSegment,
    long lastSequence,
    List<Segment> segments,
    @Nullable String tornTail,
    EntryOffsets places) {

  /**
   * A segment that was read.
   *
   * @param number its number
   * @param directory name of its directory
   * @param usedBytes size of the data file up to the end of the last valid record
   * @param maxIndex greatest entry index in it, 0 if it has no entry
   * @param records number of valid records
   */
  public record Segment(
      long number, String directory, long usedBytes, long maxIndex, long records) {}

  /**
   * The terms in this log. {@code termAt} reads the disk: it throws WalException IO if that fails,
   * and WalCorruptException if the entry's record is damaged.
   *
   * @param directory of the log that was read
   */
  public LogTerms terms(Path directory) {
    return new LogTerms() {
      @Override
      public long compactedIndex() {
        return compactedIndex;
      }

      @Override
      public long termAt(long index) {
        List<Entry> there = new LogRead(directory, places.find(index, index + 1), 1).read();
        return there.isEmpty() ? NONE : there.get(0).term();
      }
    };
  }

  /**
   * Reads the log in {@code directory}; a missing directory is a new log.
   *
   * @param skipThrough entries at or below it are read and checked but not kept: the applied index
   *     of the state, or 0 for all
   * @throws WalCorruptException if records are missing that were forced
   * @throws WalException IO if the disk fails
   */
  public static WalReplay read(Path directory, long skipThrough) {
    return read(directory, new ReplayRun.Keep(skipThrough, false, 0));
  }

  /**
   * As {@link #read(Path, long)}, for a member that starts: of the entries that are committed by
   * the log's own hard state or applied by the state, only the newest are kept. So the memory does
   * not grow with unapplied entries: {@link #entries(Path, long, long, long)} reads those in
   * pieces.
   *
   * @param applied applied index of the state
   * @param recentBytes size limit for applied or committed entries that are kept
   */
  public static WalReplay recover(Path directory, long applied, long recentBytes) {
    return read(directory, new ReplayRun.Keep(applied, true, recentBytes));
  }

  private static WalReplay read(Path directory, ReplayRun.Keep keep) {
    try {
      List<SegmentName> names = SegmentName.list(directory);
      long first = firstNeeded(directory, names);
      List<SegmentName> needed = names.stream().filter(n -> n.number() >= first).toList();
      ReplayRun run = new ReplayRun(keep, first);
      for (SegmentName name : needed) {
        run.readSegment(directory, name);
      }
      return run.finish(directory);
    } catch (IOException e) {
      throw new WalException(WalException.Kind.IO, "cannot read WAL: " + e, e);
    }
  }

  /**
   * Prepares a read of the last copy of entries, before the log is opened.
   *
   * @param directory directory that was read
   * @param from first index, inclusive
   * @param until index after the last requested one
   * @param maxBytes the read stops with the entry that reaches this size
   */
  public LogRead entries(Path directory, long from, long until, long maxBytes) {
    return new LogRead(directory, places.find(from, until), maxBytes);
  }

  /**
   * The oldest segment that the newest readable one still needs. Older ones may be partly deleted.
   */
  private static long firstNeeded(Path directory, List<SegmentName> names) throws IOException {
    for (int i = names.size() - 1; i >= 0; i--) {
      SegmentName name = names.get(i);
      if (!Files.exists(name.dataFile(directory))) {
        continue;
      }
      try (SegmentScanner scanner = new SegmentScanner(name.dataFile(directory), name)) {
        SegmentScanner.Found found = scanner.next();
        if (found == null || found.record().type() != WalPayload.TYPE_SEGMENT) {
          continue;
        }
        long first = 1;
        long expected = found.record().sequence();
        while (found != null && found.record().sequence() == expected) {
          first = Math.max(first, firstIn(name, found));
          expected++;
          found = scanner.next();
        }
        return first;
      }
    }
    return 1;
  }

  private static long firstIn(SegmentName name, SegmentScanner.Found found) {
    int type = found.record().type();
    if (type != WalPayload.TYPE_SEGMENT && type != WalPayload.TYPE_COMPACTED) {
      return 1;
    }
    WalPayload payload = ReplayRun.decode(name, found);
    return payload instanceof WalPayload.SegmentStart start
        ? start.firstSegment()
        : ((WalPayload.Compacted) payload).firstSegment();
  }
}
