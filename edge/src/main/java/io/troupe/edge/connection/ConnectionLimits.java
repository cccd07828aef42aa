package io.troupe.edge.connection;

/**
 * Limits of the number of client connections, and of one connection.
 *
 * @param streams maximum number of open HTTP/2 streams per connection, 1 or more
 * @param resetsPerSecond streams of a connection that may be reset in each second, 1 or more; up to
 *     {@code streams} in a burst
 * @param connections of all clients on all ports, 1 or more
 * @param perAddress connections from one address, 1 or more
 */
public record ConnectionLimits(int streams, int resetsPerSecond, int connections, int perAddress) {
  /** Enough for all clients of a member that reconnect after its restart. */
  private static final int MOST_HANDSHAKES = 512;

  /**
   * Maximum number of pending TLS handshakes on a port, 1 or more. At most half of the connections
   * of one address: clients that never complete a handshake, which needs no certificate, leave the
   * other half to other clients.
   */
  public int handshakes() {
    return Math.min(MOST_HANDSHAKES, Math.max(1, Math.min(connections, perAddress) / 2));
  }
}
