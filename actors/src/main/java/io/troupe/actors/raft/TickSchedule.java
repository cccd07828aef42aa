package io.troupe.actors.raft;

import java.time.Duration;

/**
 * When ticks are due: a tick's length apart, however late each of them comes. A timer counts in
 * steps of its own and is a little late each time; if that were added up, whatever is counted in
 * ticks would last longer than it is set to: heartbeats, election timeouts, the 5 s of M5.
 *
 * <p>Ticks that were missed are left out. A burst of them after a pause would look like a long
 * silence of the others. Time is handed in.
 */
final class TickSchedule {
  private final long tickNanos;
  private long dueNanos;

  /** The first tick is due {@code tick} after {@code nowNanos}. */
  TickSchedule(Duration tick, long nowNanos) {
    this.tickNanos = tick.toNanos();
    this.dueNanos = nowNanos + tickNanos;
  }

  /** A tick came; how long until the next one, from half a tick's length to a whole one. */
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
