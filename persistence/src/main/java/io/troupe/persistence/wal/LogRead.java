package io.troupe.persistence.wal;

import io.troupe.model.Entry;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A read of durable entries, which can run on any thread while the log continues. Created by {@link
 * Wal#entries}.
 */
public final class LogRead {
  /** A segment that is being closed may be truncated to its used length during the read. */
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
   * @return contiguous from the first requested index; ends when the requested size is reached or
   *     an entry is missing; empty if the first one is missing
   * @throws WalException IO if the disk fails
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
        // A snapshot covers the entry by now.
        return List.copyOf(entries);
      } catch (IOException e) {
        if (attempt == ATTEMPTS) {
          throw new WalException(WalException.Kind.IO, "cannot read WAL: " + e, e);
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
