package io.troupe.actors.member;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.persistence.wal.LogRead;
import io.troupe.persistence.wal.Wal;
import io.troupe.persistence.wal.WalStatus;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A log whose disk can hang: nothing becomes durable until it is released. */
final class HangingWal implements Wal {
  private final Wal wal;
  private volatile CountDownLatch gate = new CountDownLatch(0);
  private volatile boolean waiting;

  HangingWal(Wal wal) {
    this.wal = wal;
  }

  /** Makes the disk hang from now on. */
  void hang() {
    gate = new CountDownLatch(1);
  }

  /** Completes the waiting calls. */
  void release() {
    gate.countDown();
  }

  /** True if a thread waits for the disk. */
  boolean hasWaiter() {
    return waiting;
  }

  @Override
  public void sync() {
    waiting = gate.getCount() > 0;
    try {
      gate.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("the log's caller is not to be interrupted", e);
    }
    waiting = false;
    wal.sync();
  }

  @Override
  public void append(HardState state, List<Entry> entries) {
    wal.append(state, entries);
  }

  @Override
  public void dropBefore(long index) {
    wal.dropBefore(index);
  }

  @Override
  public void restartAfter(long index) {
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
    release();
    wal.close();
  }
}
