package io.troupe.actors.member;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.persistence.wal.LogRead;
import io.troupe.persistence.wal.Wal;
import io.troupe.persistence.wal.WalException;
import io.troupe.persistence.wal.WalStatus;
import java.util.List;

/** A log whose disk is full after a number of writes. */
final class FillingWal implements Wal {
  private final Wal wal;
  private int left;

  /**
   * A log that works for a while.
   *
   * @param writes calls that write and still succeed
   */
  FillingWal(Wal wal, int writes) {
    this.wal = wal;
    this.left = writes;
  }

  private void write() {
    if (left-- <= 0) {
      throw new WalException(WalException.Kind.DISK_FULL, "the disk of the log is full", null);
    }
  }

  @Override
  public void append(HardState state, List<Entry> entries) {
    write();
    wal.append(state, entries);
  }

  @Override
  public void sync() {
    wal.sync();
  }

  @Override
  public void dropBefore(long index) {
    write();
    wal.dropBefore(index);
  }

  @Override
  public void restartAfter(long index) {
    write();
    wal.restartAfter(index);
  }

  @Override
  public LogRead entries(long from, long until, long maxBytes) {
    return wal.entries(from, until, maxBytes);
  }

  @Override
  public long sizeOnDisk() {
    return wal.sizeOnDisk();
  }

  @Override
  public WalStatus status() {
    return wal.status();
  }

  @Override
  public void close() {
    wal.close();
  }
}
