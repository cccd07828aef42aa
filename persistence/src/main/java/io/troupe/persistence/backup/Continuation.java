package io.troupe.persistence.backup;

import io.troupe.model.Entry;
import java.time.Instant;
import java.util.List;

/**
 * The log after a backup, as far as it has no gap.
 *
 * @param parts in order; each continues or overlaps the one before; empty if there is no such log
 */
public record Continuation(BackupLog log, BackupManifest backup, List<LogName> parts) {
  /** Copies the list. */
  public Continuation {
    parts = List.copyOf(parts);
  }

  /** Receives the entries in order. */
  public interface Receiver {
    /**
     * Receives the next entries.
     *
     * @param entries contiguous, at least one
     * @param part where they are from; some of its first entries may have been received before
     * @return false to stop
     */
    boolean next(List<Entry> entries, LogPart part);
  }

  /**
   * How far a restore can go.
   *
   * @param revision a revision that can be reached; a higher one may be possible
   * @param time a moment that can be reached
   */
  public record Reach(long index, long revision, Instant time) {}

  /**
   * How far a restore can go with this log.
   *
   * @throws BackupException if the last file is damaged or cannot be read
   */
  public Reach reach() {
    for (int i = parts.size() - 1; i >= 0; i--) {
      LogPart part = log.read(parts.get(i));
      // The revision is known of the last file of those that were written together.
      if (part.revision() != 0) {
        long last = parts.get(parts.size() - 1).last();
        return new Reach(last, part.revision(), part.time());
      }
    }
    return new Reach(backup.index(), backup.revision(), backup.time());
  }

  /**
   * Reads all entries after the backup, one file at a time, and checks that each file continues the
   * one before by index and term.
   *
   * @throws BackupException that names the first damaged file
   */
  public void read(Receiver receiver) {
    long last = backup.index();
    long lastTerm = backup.term();
    for (LogName name : parts) {
      LogPart part = log.read(name);
      if (part.termOf(last) != lastTerm) {
        throw new BackupException(
            "log file "
                + name.file()
                + ": does not continue entry "
                + last
                + " of term "
                + lastTerm);
      }
      List<Entry> entries = part.entries();
      List<Entry> fresh = entries.subList((int) (last + 1 - part.first()), entries.size());
      last = part.last();
      lastTerm = part.lastTerm();
      if (!receiver.next(fresh, part)) {
        return;
      }
    }
  }
}
