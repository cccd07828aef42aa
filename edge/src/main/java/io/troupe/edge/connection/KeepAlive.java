package io.troupe.edge.connection;

import java.time.Duration;

/**
 * HTTP/2 pings of client connections, in both directions (T4). Validated where the configuration is
 * read; whole milliseconds.
 *
 * @param minTime minimum time between two pings of a client that has an open stream; 0 allows any
 * @param interval time without data after which the server pings a client that has an open stream
 * @param timeout time for the client to acknowledge a ping; if this or the interval is 0, the
 *     server does not ping
 */
public record KeepAlive(Duration minTime, Duration interval, Duration timeout) {
  /** True if the server sends pings. */
  public boolean pings() {
    return !interval.isZero() && !timeout.isZero();
  }

  /**
   * Converts the times to the form that the HTTP layer needs. The HTTP layer checks once per
   * timeout, and closes a connection at the second check after an unacknowledged ping, unless it
   * has sent another ping before. Its timeout is therefore half of this one, and its interval is a
   * multiple of that, at least two. Neither becomes shorter; the interval grows by less than half a
   * timeout, or becomes the timeout.
   */
  KeepAlive even() {
    if (!pings()) {
      return new KeepAlive(minTime, Duration.ZERO, timeout);
    }
    long check = (timeout.toMillis() + 1) / 2;
    long checks = Math.max(2, (interval.toMillis() + check - 1) / check);
    return new KeepAlive(minTime, Duration.ofMillis(check * checks), Duration.ofMillis(check));
  }
}
