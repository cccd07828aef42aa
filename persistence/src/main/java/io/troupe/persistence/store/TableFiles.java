package io.troupe.persistence.store;

import io.troupe.mvcc.StoreException;
import java.nio.file.Path;
import org.rocksdb.Options;
import org.rocksdb.RocksDBException;
import org.rocksdb.SstFileReader;

/** Operations on table files outside of an open store. */
public final class TableFiles {
  private TableFiles() {}

  /**
   * Compares each block of a table file with its own checksum. Reads the file once, at the speed of
   * the disk or of the page cache; uses no block cache.
   *
   * @throws StoreException if a block is damaged ({@link StoreFailure#CORRUPTION}) or the file
   *     cannot be read
   */
  public static void verify(Path file) {
    try (Options options = new Options();
        SstFileReader reader = new SstFileReader(options)) {
      reader.open(file.toString());
      reader.verifyChecksum();
    } catch (RocksDBException e) {
      throw new StoreException(
          "table file " + file + " is damaged or unreadable: " + e.getMessage(), e);
    }
  }
}
