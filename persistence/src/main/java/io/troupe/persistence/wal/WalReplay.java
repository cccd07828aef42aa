package io.troupe.persistence.wal;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a log on disk says, read once at start. Reading changes nothing on disk.
 *
 * <p>Later wins: an entry at index i drops all earlier entries at i and above. Records are numbered
 * without gaps, and each tells up to which number the log was forced when it was written. So a
 * record that is missing or damaged ends the log if nothing proves that it was ever forced (a torn
 * tail), and is corruption if a later whole record, in this segment or another, proves that it was.
 *
 * @param hardState last hard state; {@link HardState#INITIAL} for a fresh log
 * @param entries the last form of the entries above both {@code compactedIndex} and the index that reading
 *     was told to skip to, and before them as many older ones above the compacted index as were asked for;
 *     contiguous, oldest first, immutable
 * @param compactedIndex entries at or below it are covered by a snapshot and may be gone: a state that has
 *     applied less than this must be restored from a snapshot before the log is any use to it
 * @param lastIndex index of the last entry, or the compacted index if there is none; may be below what the
 *     state has applied if the disk lost the log's end
 * @param firstSegment oldest segment that is still needed
 * @param lastSequence number of the last record, 0 for a fresh log
 * @param segments needed segments that hold a record, oldest first; immutable
 * @param tornTail where a torn tail begins, or null if the log ends cleanly; for the operator's log
 * @param places where entries stand; taken over by the log that is opened
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
   * @param usedBytes bytes of the data file up to the end of the last record that counts
   * @param maxIndex greatest entry index in it, 0 if it has no entry
   * @param records records in it that count
   */
  public record Segment(
      long number, String directory, long usedBytes, long maxIndex, long records) {}

  /**
   * True if a state that ends with an entry can be continued by this log: the log restarted there,
   * or has the same entry. Another entry at the index contradicts the state.
   *
   * @param directory of the log that was read
   * @throws WalException IO if the disk does not answer
   * @throws WalCorruptException if the entry's record is damaged
   */
  public boolean continues(Path directory, long index, long term) {
    if (index == compactedIndex) {
      return true;
    }
    List<Entry> there =
        index < compactedIndex ? List.of() : new LogRead(directory, places.find(index, index + 1), 1).read();
    return !there.isEmpty() && there.get(0).term() == term;
  }

  /**
   * Reads the log in {@code directory}; a missing directory is a fresh log.
   *
   * @param skipThrough entries at or below it are read and checked but not kept: the state's
   *     applied index, or 0 for all
   * @throws WalCorruptException if records are missing that were forced
   * @throws WalException IO if the disk does not answer
   */
  public static WalReplay read(Path directory, long skipThrough) {
    return read(directory, new ReplayRun.Keep(skipThrough, false, 0));
  }

  /**
   * As {@link #read(Path, long)}, for a member that starts: of the entries that the log's own hard
   * state calls committed, or that the state holds, only the newest are kept. So the memory does
   * not grow with what is not applied yet: {@link #entries(Path, long, long, long)} reads that
   * piece by piece.
   *
   * @param applied the state's applied index
   * @param recentBytes most bytes of applied or committed entries that are kept
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
      throw new WalException(WalException.Kind.IO, "cannot read the log: " + e, e);
    }
  }

  /**
   * Prepares a read of entries in their last form, before the log is opened.
   *
   * @param directory that was read
   * @param from first index, inclusive
   * @param until index behind the last one wanted
   * @param maxBytes the read stops with the entry that reaches it
   */
  public LogRead entries(Path directory, long from, long until, long maxBytes) {
    return new LogRead(directory, places.find(from, until), maxBytes);
  }

  /**
   * The oldest segment that the newest readable one still asks for. What lies before may be half
   * deleted.
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
