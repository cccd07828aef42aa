package io.troupe.grpc.http;

import java.time.Duration;

/**
 * HTTP/2 pings of client connections, in both directions (T4). Checked where the configuration is
 * read; whole milliseconds.
 *
 * @param minTime shortest time between two pings of a client that has a stream open; 0 allows any
 * @param interval silence after which the server pings a client that has a stream open
 * @param timeout how long the client may take for its answer; 0, or an interval of 0: the server
 *     does not ping
 */
public record KeepAlive(Duration minTime, Duration interval, Duration timeout) {
  /** True if the server pings at all. */
  public boolean pings() {
    return !interval.isZero() && !timeout.isZero();
  }

  /**
   * The same as the HTTP layer takes it: its interval is a whole number of timeouts. Neither gets
   * shorter. With a timeout that is longer than the interval both are that timeout.
   */
  KeepAlive even() {
    if (!pings()) {
      return new KeepAlive(minTime, Duration.ZERO, timeout);
    }
    long times = Math.max(1, interval.toMillis() / timeout.toMillis());
    long least = Math.max(timeout.toMillis(), (interval.toMillis() + times - 1) / times);
    return new KeepAlive(minTime, Duration.ofMillis(least * times), Duration.ofMillis(least));
  }
}
