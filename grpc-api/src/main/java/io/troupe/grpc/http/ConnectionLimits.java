package io.troupe.grpc.http;

/**
 * How many client connections there may be, and what one of them may do.
 *
 * @param streams streams of HTTP/2 that may be open at a time on a connection, 1 or more
 * @param resetsPerSecond streams of a connection that may be reset in each second, 1 or more; as
 *     many as {@code streams} at once
 * @param connections of all clients on all ports, 1 or more
 * @param perAddress connections from one address, 1 or more
 */
public record ConnectionLimits(int streams, int resetsPerSecond, int connections, int perAddress) {
  /** Enough for all clients of a member that connect again after its restart. */
  private static final int MOST_HANDSHAKES = 512;

  /**
   * Handshakes of TLS that may be pending at a time on a port, 1 or more. They are no more than
   * half of the connections of one address: clients that never complete one, who need no
   * certificate for that, leave the other half.
   */
  int handshakes() {
    return Math.min(MOST_HANDSHAKES, Math.max(1, Math.min(connections, perAddress) / 2));
  }
}
