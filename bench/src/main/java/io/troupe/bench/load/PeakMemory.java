package io.troupe.bench.load;

import java.util.concurrent.locks.LockSupport;

/** Samples the server's resident memory until it is closed. */
final class PeakMemory implements AutoCloseable {
  private static final long INTERVAL_NANOS = 50_000_000L;

  private final Meter meter;
  private final Thread thread;
  private volatile boolean stopped;
  private volatile long peakBytes;

  PeakMemory(Meter meter) {
    this.meter = meter;
    this.peakBytes = meter.rssBytes();
    this.thread = new Thread(this::run, "bench-memory");
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    while (!stopped) {
      peakBytes = Math.max(peakBytes, meter.rssBytes());
      LockSupport.parkNanos(INTERVAL_NANOS);
    }
  }

  /** The highest sample in bytes; -1 if the server's process is not known. */
  long peakBytes() {
    return peakBytes;
  }

  @Override
  public void close() {
    stopped = true;
    LockSupport.unpark(thread);
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
