package io.troupe.grpc.http;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.model.AttributeKeys;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.RemoteAddress;
import org.apache.pekko.stream.scaladsl.Tcp;

/**
 * A port with TLS. Takes TLS off its connections before the HTTP layer sees them
 * (docs/decisions/0101), and knows of each request which connection it came over.
 *
 * <p>The HTTP layer tells requests the address of their client and nothing else about their
 * connection. An address may stand for two connections at a time, so each connection gets a number,
 * which the address carries as its host name: no client has any influence on it.
 */
final class SecureListener {
  /** Each takes some 100 KB. */
  static final int MOST_HANDSHAKES = 512;

  private final ConnectionSecurity security;
  private final boolean onlyGrpc;
  private final boolean checksAddress;
  private final ActorSystem<?> system;
  private final Map<String, SecureConnection> connections = new ConcurrentHashMap<>();
  private final AtomicLong numbers = new AtomicLong();

  /** Connections whose handshake is under way, oldest first. */
  private final Set<SecureConnection> handshaking = new LinkedHashSet<>();

  SecureListener(ActorSystem<?> system, ConnectionSecurity security, GrpcServer.Listener serves) {
    this.system = system;
    this.security = security;
    this.onlyGrpc = serves == GrpcServer.Listener.GRPC;
    this.checksAddress = serves == GrpcServer.Listener.METRICS && security.checksAddress();
  }

  /** The connection as the HTTP layer is to see it. */
  Tcp.IncomingConnection secured(Tcp.IncomingConnection accepted) {
    String number = "connection-" + numbers.incrementAndGet();
    SecureConnection connection =
        new SecureConnection(this, accepted.remoteAddress(), () -> connections.remove(number));
    connections.put(number, connection);
    begun(connection);
    return new Tcp.IncomingConnection(
        accepted.localAddress(),
        named(number, accepted.remoteAddress()),
        connection.plain(accepted.flow().asJava()).asScala());
  }

  /**
   * Makes room by cutting the oldest: who means it is through in a moment, so the oldest are those
   * that only want to be in the way.
   */
  private void begun(SecureConnection connection) {
    SecureConnection oldest = null;
    synchronized (handshaking) {
      handshaking.add(connection);
      if (handshaking.size() > MOST_HANDSHAKES) {
        oldest = handshaking.iterator().next();
        handshaking.remove(oldest);
      }
    }
    if (oldest != null) {
      oldest.cut("more than " + MOST_HANDSHAKES + " handshakes at a time");
    }
  }

  /** A handshake is over, well or badly. */
  void over(SecureConnection connection) {
    synchronized (handshaking) {
      handshaking.remove(connection);
    }
  }

  private static InetSocketAddress named(String number, InetSocketAddress client) {
    try {
      return new InetSocketAddress(
          InetAddress.getByAddress(number, client.getAddress().getAddress()), client.getPort());
    } catch (UnknownHostException e) {
      throw new IllegalStateException("an address has four or sixteen bytes", e);
    }
  }

  /** Who sent a request that came over this port. */
  Visitor visitor(HttpRequest request) {
    if (!security.isLogin()) {
      return new Visitor(true, "");
    }
    String number =
        request
            .getAttribute(AttributeKeys.remoteAddress)
            .flatMap(RemoteAddress::getAddress)
            .map(InetAddress::getHostName)
            .orElse("");
    SecureConnection connection = connections.get(number);
    return new Visitor(true, connection == null ? "" : connection.commonName());
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
