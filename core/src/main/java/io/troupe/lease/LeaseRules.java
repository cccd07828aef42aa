package io.troupe.lease;

import io.troupe.model.Refusal;
import org.jspecify.annotations.Nullable;

/** Rules about grants that depend on no state. Pure functions. */
public final class LeaseRules {
  /** Longest time to live that a client may request, in seconds (L1). */
  public static final long MAX_TTL_SECONDS = 9_000_000_000L;

  private LeaseRules() {}

  /**
   * Shortest time to live, in seconds: one and a half election timeouts, ticks divided as whole
   * numbers, rounded up to a second.
   *
   * @param electionTicks length of an election timeout in ticks, 1 or more
   * @param tickMs length of a tick, 1 or more
   * @source L2
   */
  public static long minTtlSeconds(int electionTicks, long tickMs) {
    long ticks = 3L * electionTicks / 2;
    return (ticks * tickMs + 999) / 1000;
  }

  /** L2: a time that is too short is raised, never refused. */
  public static long effectiveTtlSeconds(long askedSeconds, long minTtlSeconds) {
    return Math.max(askedSeconds, minTtlSeconds);
  }

  /** Returns the reason for which a time to live cannot be granted, or null (L1). */
  public static @Nullable Refusal check(long askedSeconds) {
    return askedSeconds > MAX_TTL_SECONDS ? Refusal.LEASE_TTL_TOO_LARGE : null;
  }
}
