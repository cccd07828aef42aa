package io.troupe.persistence.wal;

import io.troupe.model.Entry;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A read of durable entries, to be done on any thread while the log continues. Made by {@link
 * Wal#entries}.
 */
public final class LogRead {
  /** A segment that is being closed is cut to its used length under our eyes. */
  private static final int ATTEMPTS = 3;

  private final Path directory;
  private final List<EntryOffsets.Stretch> stretches;
  private final long maxBytes;

  LogRead(Path directory, List<EntryOffsets.Stretch> stretches, long maxBytes) {
    this.directory = directory;
    this.stretches = stretches;
    this.maxBytes = maxBytes;
  }

  /**
   * Reads. Blocks on the disk.
   *
   * @return contiguous from the first index asked for; ends where the bytes asked for are reached
   *     or an entry is gone; empty if the first one is gone
   * @throws WalException IO if the disk does not answer
   * @throws WalCorruptException if a record between others is damaged
   */
  public List<Entry> read() {
    for (int attempt = 1; ; attempt++) {
      List<Entry> entries = new ArrayList<>();
      try {
        long bytes = 0;
        for (EntryOffsets.Stretch stretch : stretches) {
          bytes = read(stretch, entries, bytes);
          if (bytes >= maxBytes) {
            break;
          }
        }
        return List.copyOf(entries);
      } catch (NoSuchFileException dropped) {
        // A snapshot covers it meanwhile.
        return List.copyOf(entries);
      } catch (IOException e) {
        if (attempt == ATTEMPTS) {
          throw new WalException(WalException.Kind.IO, "cannot read the log: " + e, e);
        }
      }
    }
  }

  private long read(EntryOffsets.Stretch stretch, List<Entry> into, long bytesSoFar)
      throws IOException {
    long bytes = bytesSoFar;
    long next = stretch.from();
    SegmentName segment = stretch.segment();
    try (SegmentScanner scanner = new SegmentScanner(segment.dataFile(directory), segment)) {
      scanner.startAt(stretch.position());
      while (next < stretch.until()) {
        SegmentScanner.Found found = scanner.next();
        if (found == null) {
          throw new WalCorruptException(
              segment.text(), stretch.position(), "entry " + next + " is missing");
        }
        if (!(ReplayRun.decode(segment, found) instanceof WalPayload.Batch batch)) {
          continue;
        }
        for (Entry entry : batch.entries()) {
          if (entry.index() == next && next < stretch.until()) {
            into.add(entry);
            next++;
            bytes += entry.data().length();
            if (bytes >= maxBytes) {
              return bytes;
            }
          }
        }
      }
    }
    return bytes;
  }
}
