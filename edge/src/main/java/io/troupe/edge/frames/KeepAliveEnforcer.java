package io.troupe.edge.frames;

/**
 * Counts the pings of one HTTP/2 connection (T4). A ping too soon after the previous one, or within
 * 2 h of it while no stream is open, is a strike; the third strike breaks the limit. A response
 * frame clears the strikes. Not thread-safe.
 */
final class KeepAliveEnforcer {
  private static final long MIN_IDLE_INTERVAL_NANOS = 2 * 3600 * 1_000_000_000L;
  private static final int MAX_STRIKES = 2;

  private final boolean enforces;
  private final long minIntervalNanos;
  private long lastPingNanos;
  private boolean pinged;
  private int strikes;

  /**
   * Makes the counter of one connection.
   *
   * @param enforces false if this port allows any number of pings
   * @param minIntervalNanos minimum time between two pings while a stream is open
   */
  KeepAliveEnforcer(boolean enforces, long minIntervalNanos) {
    this.enforces = enforces;
    this.minIntervalNanos = minIntervalNanos;
  }

  /**
   * Counts a ping of the client.
   *
   * @param idle whether no stream is open
   * @return false if the connection must be closed
   */
  boolean allowsPing(boolean idle, long nowNanos) {
    long minimum = idle ? MIN_IDLE_INTERVAL_NANOS : minIntervalNanos;
    if (pinged && nowNanos - lastPingNanos < minimum) {
      strikes++;
    }
    pinged = true;
    lastPingNanos = nowNanos;
    return strikes <= MAX_STRIKES || !enforces;
  }

  /** Clears the strikes because the server sent a frame of a response. */
  void responseSent() {
    strikes = 0;
    // The next ping is not compared with a ping before this response.
    pinged = false;
  }
}
