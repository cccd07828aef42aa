package io.troupe.node.offline;

import io.troupe.etcd.bolt.BoltReader;
import io.troupe.etcd.bolt.BoltWalk;
import io.troupe.etcd.bolt.DamagedDatabaseException;
import io.troupe.model.Bytes;
import io.troupe.mvcc.HistoryImport;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * What {@code snapshot status} shows (7.3).
 *
 * @param hash CRC-32C over the names and rows of all buckets
 * @param revision greatest revision of a record
 * @param totalKey number of live keys
 * @param totalSize bytes of the database, without a hash behind it
 * @param version storage version, empty if the file has none
 */
record SnapshotStatus(int hash, long revision, long totalKey, long totalSize, String version) {
  private static final String[] UNITS = {"B", "kB", "MB", "GB", "TB"};

  /**
   * Reads and checks a whole file. Memory: some 50 bytes for each live key.
   *
   * @param wait how long to wait for a process that uses the file; 0: without a limit
   * @throws CommandException if it cannot be read or is damaged
   */
  static SnapshotStatus of(Path file, Duration wait) {
    try (DatabaseLock lock = DatabaseLock.of(file, wait);
        BoltReader reader = BoltReader.open(file)) {
      CRC32C crc = new CRC32C();
      Set<Bytes> live = new HashSet<>();
      long revision = 0;
      String version = "";
      for (String bucket : reader.buckets()) {
        crc.update(bucket.getBytes(StandardCharsets.UTF_8));
        BoltWalk rows = reader.walk(bucket);
        while (rows.next()) {
          update(crc, rows.key());
          update(crc, rows.value());
          if (bucket.equals("key")) {
            HistoryImport.Change change = HistoryImport.change(rows.key(), rows.value());
            revision = change.revision();
            if (change.deletion()) {
              live.remove(change.userKey());
            } else {
              live.add(Bytes.wrap(change.userKey().toArray()));
            }
          } else if (bucket.equals("meta") && rows.key().utf8().equals("storageVersion")) {
            version = rows.value().utf8();
          }
        }
      }
      return new SnapshotStatus(
          (int) crc.getValue(), revision, live.size(), reader.databaseBytes(), version);
    } catch (NoSuchFileException e) {
      throw new CommandException("stat " + file + ": no such file or directory");
    } catch (DamagedDatabaseException | IllegalArgumentException e) {
      throw new CommandException("snapshot file integrity check failed. " + e.getMessage());
    } catch (IOException e) {
      throw new CommandException("cannot read " + file + ": " + e);
    }
  }

  private static void update(CRC32C crc, Bytes bytes) {
    crc.update(bytes.backingArray(), bytes.backingOffset(), bytes.length());
  }

  /** The form in which it is printed. */
  Row row() {
    long unsigned = Integer.toUnsignedLong(hash);
    return new Row(
        List.of(
            new Row.Cell("HASH", "Hash", "hash", Integer.toHexString(hash), unsigned),
            Row.Cell.number("REVISION", "Revision", "revision", revision),
            Row.Cell.number("TOTAL KEYS", "Keys", "totalKey", totalKey),
            new Row.Cell("TOTAL SIZE", "Size", "totalSize", size(), totalSize),
            new Row.Cell("VERSION", "Version", "version", version, version)));
  }

  /** The size in the form of etcdutl: two digits, decimal units. */
  private String size() {
    double size = totalSize;
    int unit = 0;
    while (size >= 1000 && unit < UNITS.length - 1) {
      size /= 1000;
      unit++;
    }
    double rounded = Math.floor(size * 10 + 0.5) / 10;
    String format = unit > 0 && rounded < 10 ? "%.1f %s" : "%.0f %s";
    return String.format(Locale.ROOT, format, rounded, UNITS[unit]);
  }
}
