package io.troupe.node.offline;

import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/** Shows once a second how many records were read, on standard error. */
final class ProgressLine implements LongConsumer {
  private static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final long start = System.nanoTime();
  private long shown = start;

  @Override
  public void accept(long records) {
    long now = System.nanoTime();
    if (now - shown >= EVERY_NANOS) {
      shown = now;
      double seconds = (now - start) / 1e9;
      System.err.printf("%,d records, %,.0f/s%n", records, records / seconds);
    }
  }
}
