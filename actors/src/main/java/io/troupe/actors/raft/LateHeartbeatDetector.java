package io.troupe.actors.raft;

import java.time.Duration;

/**
 * Tells a leader's late heartbeats: those that go more than two intervals after the last ones.
 * Heartbeats go with ticks, so it counts ticks as the core does; what else goes in between, for
 * reads, makes none of them timely. Time is handed in.
 */
final class LateHeartbeatDetector {
  private final int ticksApart;
  private final long mostNanos;
  private int ticks;
  private long lastNanos;

  LateHeartbeatDetector(int ticksApart, Duration tick) {
    this.ticksApart = ticksApart;
    this.mostNanos = 2L * ticksApart * tick.toNanos();
  }

  /** A leadership begins, with heartbeats. */
  void begin(long nowNanos) {
    ticks = 0;
    lastNanos = nowNanos;
  }

  /** A tick of the leader; true if heartbeats went with it, and late. */
  boolean isLate(long nowNanos) {
    if (++ticks < ticksApart) {
      return false;
    }
    boolean late = nowNanos - lastNanos > mostNanos;
    begin(nowNanos);
    return late;
  }
}
