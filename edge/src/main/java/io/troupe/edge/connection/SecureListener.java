package io.troupe.edge.connection;

import io.troupe.metrics.LogRateLimit;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.typed.ActorSystem;

/**
 * A port with TLS. Decrypts its connections before the HTTP layer (docs/decisions/0101), and bounds
 * the number of pending handshakes.
 */
public final class SecureListener {
  /** Enough to log all clients of a misconfigured deployment; etcd samples such lines too. */
  private static final int REJECTIONS_AT_ONCE = 100;

  private final ConnectionSecurity security;
  private final boolean onlyGrpc;
  private final boolean checksAddress;
  private final ActorSystem<?> system;
  private final int mostHandshakes;

  /** Limits the log, because unknown clients may fail at any rate. */
  private final LogRateLimit rejections =
      new LogRateLimit(TimeUnit.SECONDS.toNanos(1), REJECTIONS_AT_ONCE);

  /** Connections whose handshake is in progress, oldest first. */
  private final Set<SecureConnection> handshaking = new LinkedHashSet<>();

  /**
   * Creates the listener of one port.
   *
   * @param mostHandshakes maximum number of pending handshakes
   */
  public SecureListener(
      ActorSystem<?> system, ConnectionSecurity security, PortServices serves, int mostHandshakes) {
    this.mostHandshakes = mostHandshakes;
    this.system = system;
    this.security = security;
    this.onlyGrpc = serves == PortServices.GRPC;
    this.checksAddress = serves == PortServices.METRICS && security.checksAddress();
  }

  /** Wraps an accepted connection; its handshake starts when the connection is materialized. */
  SecureConnection secured(ClientConnection accepted) {
    SecureConnection connection = new SecureConnection(this, accepted);
    begun(connection);
    return connection;
  }

  /**
   * Registers a handshake. Above the limit it closes the oldest: a regular client completes its
   * handshake quickly, so the oldest ones belong to clients that only occupy slots.
   */
  private void begun(SecureConnection connection) {
    SecureConnection oldest = null;
    synchronized (handshaking) {
      handshaking.add(connection);
      if (handshaking.size() > mostHandshakes) {
        oldest = handshaking.iterator().next();
        handshaking.remove(oldest);
      }
    }
    if (oldest != null) {
      oldest.cut("more than " + mostHandshakes + " handshakes at a time");
    }
  }

  /**
   * Counts a rejected connection.
   *
   * @return as {@link LogRateLimit#admit}
   */
  long rejected() {
    return rejections.admit(System.nanoTime());
  }

  /** Removes a completed or failed handshake. */
  void handshakeEnded(SecureConnection connection) {
    synchronized (handshaking) {
      handshaking.remove(connection);
    }
  }

  ConnectionSecurity security() {
    return security;
  }

  /** Whether the client must negotiate HTTP/2 (T1). */
  boolean onlyGrpc() {
    return onlyGrpc;
  }

  /** Whether a certificate must match the client's address (TL2). */
  boolean checksAddress() {
    return checksAddress;
  }

  ActorSystem<?> system() {
    return system;
  }
}
