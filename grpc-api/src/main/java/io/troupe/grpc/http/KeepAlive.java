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
   * The same as the HTTP layer takes it. It looks once in each of its timeouts, and ends a
   * connection at the second look after a ping that was not answered, unless it has sent another
   * ping by then: so its timeout is half of ours, and its interval is a whole number of those, two
   * at least. Neither gets shorter; the interval gets longer by less than half a timeout, or
   * becomes the timeout.
   */
  KeepAlive even() {
    if (!pings()) {
      return new KeepAlive(minTime, Duration.ZERO, timeout);
    }
    long look = (timeout.toMillis() + 1) / 2;
    long looks = Math.max(2, (interval.toMillis() + look - 1) / look);
    return new KeepAlive(minTime, Duration.ofMillis(look * looks), Duration.ofMillis(look));
  }
}
