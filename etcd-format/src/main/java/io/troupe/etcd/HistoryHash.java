package io.troupe.etcd;

import io.troupe.etcd.bolt.BoltReader;
import io.troupe.etcd.bolt.BoltWalk;
import io.troupe.etcd.bolt.DamagedDatabaseException;
import io.troupe.model.Bytes;
import io.troupe.mvcc.HistoryImport;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * The hash of the history in a database file: what HashKV of a member with this state replies
 * (MT7).
 *
 * @param revision last revision that counts
 * @param compactRevision -1 if nothing was compacted
 */
public record HistoryHash(int hash, long revision, long compactRevision) {
  private static final String KEYS = "key";

  /** The file lacks the requested revision. The message is etcd's. */
  public static final class RevisionException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RevisionException(String message) {
      super(message);
    }
  }

  /** A revision within the history. */
  private record Version(long main, long sub) {}

  /**
   * Computes the hash. Memory: some 100 bytes for each key that is live at the revision.
   *
   * @param requested 0 for the newest revision
   * @throws RevisionException if the revision is compacted, or above the newest
   * @throws DamagedDatabaseException if the file is damaged or not one of etcd
   */
  public static HistoryHash of(BoltReader file, long requested) {
    DatabaseImport.Compactions compactions = DatabaseImport.Compactions.of(file);
    long compacted = compactions.compacted();
    if (requested > 0 && requested < compacted) {
      throw new RevisionException("mvcc: required revision has been compacted");
    }
    long newest = Math.max(newest(file), compactions.scheduled());
    if (requested > newest) {
      throw new RevisionException("mvcc: required revision is a future revision");
    }
    long revision = requested == 0 ? newest : requested;
    Map<Bytes, Version> live = live(file, revision);
    if (live.isEmpty()) {
      // The records count that the compaction keeps.
      live = live(file, compacted);
    }
    CRC32C crc = new CRC32C();
    crc.update(KEYS.getBytes(StandardCharsets.UTF_8));
    BoltWalk rows = file.walk(KEYS);
    while (rows.next()) {
      HistoryImport.Change change = change(rows);
      if (change.revision() <= revision && counts(change, rows.key(), compacted, live)) {
        update(crc, rows.key());
        update(crc, rows.value());
      }
    }
    return new HistoryHash((int) crc.getValue(), revision, compacted);
  }

  private static boolean counts(
      HistoryImport.Change change, Bytes row, long compacted, Map<Bytes, Version> live) {
    if (change.revision() > compacted) {
      return true;
    }
    return !change.deletion() && version(row).equals(live.get(change.userKey()));
  }

  /** The newest record of each key that exists at a revision. */
  private static Map<Bytes, Version> live(BoltReader file, long revision) {
    Map<Bytes, Version> live = new HashMap<>();
    BoltWalk rows = file.walk(KEYS);
    while (rows.next()) {
      HistoryImport.Change change = change(rows);
      if (change.revision() > revision) {
        break;
      }
      if (change.deletion()) {
        live.remove(change.userKey());
      } else {
        live.put(Bytes.copyOf(change.userKey().toArray()), version(rows.key()));
      }
    }
    return live;
  }

  private static long newest(BoltReader file) {
    long newest = 1;
    BoltWalk rows = file.walk(KEYS);
    while (rows.next()) {
      newest = Math.max(newest, change(rows).revision());
    }
    return newest;
  }

  private static HistoryImport.Change change(BoltWalk rows) {
    try {
      return HistoryImport.change(rows.key(), rows.value());
    } catch (IllegalArgumentException e) {
      throw new DamagedDatabaseException("damaged record: " + e.getMessage());
    }
  }

  private static Version version(Bytes row) {
    return new Version(HistoryImport.number(row, 0), HistoryImport.number(row, 9));
  }

  private static void update(CRC32C crc, Bytes bytes) {
    crc.update(bytes.backingArray(), bytes.backingOffset(), bytes.length());
  }
}
