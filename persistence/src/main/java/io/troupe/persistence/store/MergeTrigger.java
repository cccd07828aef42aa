package io.troupe.persistence.store;

import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.MutableColumnFamilyOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * The number of flushed table files of a space at which RocksDB merges them into the others. A walk
 * reads each version of a row in each unmerged file. RocksDB waits for four files, whatever their
 * size. If a small space is overwritten often, each of them has a version of each row, and walks
 * take twice as long (decision 0273). So each flushed file of a small space is merged at once.
 */
final class MergeTrigger {
  private static final int AT_ONCE = 1;

  /** RocksDB's default. A merge may write the whole space again, so it is worth more files. */
  private static final int WITH_OTHERS = 4;

  /** A merge writes the whole space again, at most so much. */
  private static final long SMALL_BYTES = 16L << 20;

  private static final long LARGE_BYTES = 32L << 20;

  private final RocksDB db;
  private final ColumnFamilyHandle space;
  private int files = WITH_OTHERS;

  MergeTrigger(RocksDB db, ColumnFamilyHandle space) {
    this.db = db;
    this.space = space;
  }

  /**
   * Fits the number to the present size of the space. A change writes a small file to the disk, and
   * RocksDB starts a merge that is due.
   */
  synchronized void fit() throws RocksDBException {
    int fitting = files(db.getLongProperty(space, "rocksdb.live-sst-files-size"), files);
    if (fitting != files) {
      db.setOptions(
          space,
          MutableColumnFamilyOptions.builder().setLevel0FileNumCompactionTrigger(fitting).build());
      files = fitting;
    }
  }

  /**
   * Returns the number for a space of {@code bytes}; between small and large ones the present
   * number stays, so that it changes seldom.
   */
  static int files(long bytes, int present) {
    if (bytes <= SMALL_BYTES) {
      return AT_ONCE;
    }
    return bytes > LARGE_BYTES ? WITH_OTHERS : present;
  }
}
