package io.troupe.persistence.store;

import io.troupe.mvcc.StoreException;
import io.troupe.persistence.datadir.DurableFiles;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/** Cause of a {@link StoreException}, for the exit code and the operator's log line. */
public enum StoreFailure {
  /** A checksum or a structure on disk is wrong, or a file is gone: restore from a snapshot. */
  CORRUPTION,
  /** The disk or a quota is full. */
  DISK_FULL,
  /** The disk failed otherwise. */
  IO,
  /** Used after close, or a bug. */
  OTHER;

  /** Returns the kind of {@code failure}. */
  public static StoreFailure of(StoreException failure) {
    if (DurableFiles.isDiskFull(failure)) {
      return DISK_FULL;
    }
    for (Throwable t = failure; t != null; t = t.getCause()) {
      if (t instanceof RocksDBException e) {
        return ofStatus(e);
      }
      if (t instanceof java.io.IOException) {
        return IO;
      }
    }
    return OTHER;
  }

  private static StoreFailure ofStatus(RocksDBException e) {
    Status status = e.getStatus();
    if (status == null) {
      return OTHER;
    }
    if (status.getSubCode() == Status.SubCode.NoSpace) {
      return DISK_FULL;
    }
    return switch (status.getCode()) {
      case Corruption -> CORRUPTION;
      case IOError -> isFileMissing(e) ? CORRUPTION : IO;
      default -> OTHER;
    };
  }

  /** RocksDB's Java API does not distinguish it; in another language than English it is IO. */
  private static boolean isFileMissing(RocksDBException e) {
    return String.valueOf(e.getMessage()).contains("No such file or directory");
  }
}
