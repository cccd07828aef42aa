package io.troupe.grpc.http;

import io.troupe.metrics.LogRateLimit;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.typed.ActorSystem;

/**
 * A port with TLS. Takes TLS off its connections before the HTTP layer sees them
 * (docs/decisions/0101), and bounds how many may be in their handshake.
 */
final class SecureListener {
  /** Enough for all clients of a wrong configuration to be named; etcd samples such lines too. */
  private static final int REJECTIONS_AT_ONCE = 100;

  private final ConnectionSecurity security;
  private final boolean onlyGrpc;
  private final boolean checksAddress;
  private final ActorSystem<?> system;
  private final int mostHandshakes;

  /** Unknown peers may fail as often as they like. */
  private final LogRateLimit rejections =
      new LogRateLimit(TimeUnit.SECONDS.toNanos(1), REJECTIONS_AT_ONCE);

  /** Connections whose handshake is in progress, oldest first. */
  private final Set<SecureConnection> handshaking = new LinkedHashSet<>();

  /**
   * Of one port.
   *
   * @param mostHandshakes that may be pending at a time
   */
  SecureListener(
      ActorSystem<?> system,
      ConnectionSecurity security,
      GrpcServer.Listener serves,
      int mostHandshakes) {
    this.mostHandshakes = mostHandshakes;
    this.system = system;
    this.security = security;
    this.onlyGrpc = serves == GrpcServer.Listener.GRPC;
    this.checksAddress = serves == GrpcServer.Listener.METRICS && security.checksAddress();
  }

  /** A connection that was accepted; its handshake begins when it is run. */
  SecureConnection secured(ClientConnection accepted) {
    SecureConnection connection = new SecureConnection(this, accepted);
    begun(connection);
    return connection;
  }

  /**
   * Makes room by cutting the oldest: who means it is through in a moment, so the oldest are those
   * that only want to be in the way.
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
   * Somebody is rejected and to be named.
   *
   * @return as {@link LogRateLimit#admit}
   */
  long rejected() {
    return rejections.admit(System.nanoTime());
  }

  /** A handshake is over, well or badly. */
  void over(SecureConnection connection) {
    synchronized (handshaking) {
      handshaking.remove(connection);
    }
  }

  ConnectionSecurity security() {
    return security;
  }

  /** Whether HTTP/2 must have been agreed on (T1). */
  boolean onlyGrpc() {
    return onlyGrpc;
  }

  /** Whether a certificate must come from its own address (TL2). */
  boolean checksAddress() {
    return checksAddress;
  }

  ActorSystem<?> system() {
    return system;
  }
}
