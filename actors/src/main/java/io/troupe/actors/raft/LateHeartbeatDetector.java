package io.troupe.actors.raft;

import java.time.Duration;

/**
 * Detects a leader's late heartbeats: those sent more than two intervals after the previous ones.
 * Heartbeats are sent at ticks, so it counts ticks as the core does. Heartbeats that are sent
 * between, for reads, do not count. The caller supplies the time.
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

  /** A leadership begins; the leader sends heartbeats. */
  void begin(long nowNanos) {
    ticks = 0;
    lastNanos = nowNanos;
  }

  /** A tick of the leader. Returns true if heartbeats were sent at it, and late. */
  boolean isLate(long nowNanos) {
    if (++ticks < ticksApart) {
      return false;
    }
    boolean late = nowNanos - lastNanos > mostNanos;
    begin(nowNanos);
    return late;
  }
}
