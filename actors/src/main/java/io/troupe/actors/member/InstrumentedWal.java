package io.troupe.actors.member;

import io.troupe.metrics.DiskMetrics;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.persistence.wal.LogRead;
import io.troupe.persistence.wal.Wal;
import io.troupe.persistence.wal.WalStatus;
import java.util.List;

/** Measures the writes of a log. Used by one thread, like the log itself. */
final class InstrumentedWal implements Wal {
  private final Wal wal;
  private final DiskMetrics metrics;
  private long unsynced;
  private long lastIndex;

  InstrumentedWal(Wal wal, DiskMetrics metrics) {
    this.wal = wal;
    this.metrics = metrics;
  }

  @Override
  public void append(HardState state, List<Entry> entries) {
    long startNanos = System.nanoTime();
    write(startNanos, () -> wal.append(state, entries));
    long nanos = System.nanoTime() - startNanos;
    long bytes = 0;
    for (Entry entry : entries) {
      bytes += entry.data().length();
    }
    if (!entries.isEmpty()) {
      unsynced += entries.size();
      lastIndex = entries.get(entries.size() - 1).index();
    }
    metrics.walWritten(nanos, bytes);
  }

  @Override
  public void sync() {
    long startNanos = System.nanoTime();
    write(startNanos, wal::sync);
    metrics.walSynced(startNanos, System.nanoTime(), unsynced, lastIndex);
    unsynced = 0;
  }

  @Override
  public void dropBefore(long index) {
    write(System.nanoTime(), () -> wal.dropBefore(index));
  }

  @Override
  public void restartAfter(long index) {
    write(System.nanoTime(), () -> wal.restartAfter(index));
  }

  private void write(long startNanos, Runnable operation) {
    metrics.walProgress().started(startNanos);
    try {
      operation.run();
    } finally {
      metrics.walProgress().completed();
    }
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
