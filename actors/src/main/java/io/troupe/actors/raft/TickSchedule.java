package io.troupe.actors.raft;

import java.time.Duration;

/**
 * Times at which ticks are due: one tick length apart, even if a tick is late. A timer has a coarse
 * resolution and fires a little late each time. If these delays were added up, everything that is
 * counted in ticks would last longer than configured: heartbeats, election timeouts, the 5 s of M5.
 *
 * <p>Missed ticks are skipped. A burst of ticks after a pause would look like an election timeout
 * without messages. The caller supplies the time.
 */
final class TickSchedule {
  private final long tickNanos;
  private long dueNanos;

  /** The first tick is due {@code tick} after {@code nowNanos}. */
  TickSchedule(Duration tick, long nowNanos) {
    this.tickNanos = tick.toNanos();
    this.dueNanos = nowNanos + tickNanos;
  }

  /** A tick fired. Returns the time until the next one, from half a tick length to a whole one. */
  Duration untilNext(long nowNanos) {
    dueNanos += tickNanos;
    long left = dueNanos - nowNanos;
    if (left < tickNanos / 2 || left > tickNanos) {
      left = tickNanos;
      dueNanos = nowNanos + tickNanos;
    }
    return Duration.ofNanos(left);
  }
}
