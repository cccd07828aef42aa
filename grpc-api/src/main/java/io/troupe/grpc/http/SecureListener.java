package io.troupe.grpc.http;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.model.AttributeKeys;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.RemoteAddress;
import org.apache.pekko.stream.scaladsl.Tcp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A port with TLS. Takes TLS off its connections before the HTTP layer sees them
 * (docs/decisions/0101), and knows of each request which connection it came over.
 *
 * <p>The HTTP layer tells requests the address of their client and nothing else about their
 * connection. An address may stand for two connections at a time, so each connection gets a number,
 * which the address carries as its host name: no client has any influence on it.
 */
final class SecureListener {
  private static final Logger LOG = LoggerFactory.getLogger(SecureListener.class);

  /** Each takes some 100 KB; those above are closed at once. */
  private static final int MOST_HANDSHAKES = 1024;

  private static final long REFUSAL_LINE_NANOS = 1_000_000_000L;

  private final ConnectionSecurity security;
  private final boolean onlyGrpc;
  private final boolean checksAddress;
  private final ActorSystem<?> system;
  private final Map<String, SecureConnection> connections = new ConcurrentHashMap<>();
  private final AtomicLong numbers = new AtomicLong();
  private final AtomicInteger handshakes = new AtomicInteger();
  private final AtomicLong refusalLine = new AtomicLong(System.nanoTime() - REFUSAL_LINE_NANOS);

  SecureListener(ActorSystem<?> system, ConnectionSecurity security, GrpcServer.Listener serves) {
    this.system = system;
    this.security = security;
    this.onlyGrpc = serves == GrpcServer.Listener.GRPC;
    this.checksAddress = serves == GrpcServer.Listener.METRICS && security.checksAddress();
  }

  /** The connection as the HTTP layer is to see it. */
  Tcp.IncomingConnection secured(Tcp.IncomingConnection accepted) {
    if (handshakes.incrementAndGet() > MOST_HANDSHAKES) {
      handshakes.decrementAndGet();
      refused(accepted.remoteAddress());
      return SecureConnection.closed(accepted);
    }
    String number = "connection-" + numbers.incrementAndGet();
    SecureConnection connection =
        new SecureConnection(
            this, accepted.remoteAddress(), handshakes::decrementAndGet, () -> forget(number));
    connections.put(number, connection);
    return new Tcp.IncomingConnection(
        accepted.localAddress(),
        named(number, accepted.remoteAddress()),
        connection.plain(accepted.flow().asJava()).asScala());
  }

  private void forget(String number) {
    connections.remove(number);
  }

  private void refused(InetSocketAddress client) {
    long now = System.nanoTime();
    long last = refusalLine.get();
    if (now - last >= REFUSAL_LINE_NANOS && refusalLine.compareAndSet(last, now)) {
      LOG.warn(
          "rejected connection on client endpoint remote-addr={} error=more than {} handshakes"
              + " at a time",
          client,
          MOST_HANDSHAKES);
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
