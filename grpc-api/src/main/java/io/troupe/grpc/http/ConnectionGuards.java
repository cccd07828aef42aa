package io.troupe.grpc.http;

import java.util.function.Supplier;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.http.impl.engine.http2.TelemetrySpi;
import org.apache.pekko.http.scaladsl.model.HttpRequest;
import org.apache.pekko.http.scaladsl.model.HttpResponse;
import org.apache.pekko.stream.scaladsl.BidiFlow;
import org.apache.pekko.stream.scaladsl.Flow;
import org.apache.pekko.stream.scaladsl.Tcp;
import org.jspecify.annotations.Nullable;

/**
 * Puts a {@link PingGuard} and a {@link FirstRequest} on every accepted connection, and before it
 * takes TLS off those of ports that have it ({@link SecureListener}). Pekko HTTP offers no other
 * place where the bytes of a connection can be seen: it makes an object of the class that {@code
 * pekko.http.http2-telemetry-class} names (docs/decisions/0005).
 */
public final class ConnectionGuards implements TelemetrySpi {
  /** What the port that this thread is just opening is to be. */
  private static final ThreadLocal<@Nullable SecureListener> OPENING = new ThreadLocal<>();

  /** Called by Pekko HTTP. */
  public ConnectionGuards(ActorSystem system) {}

  @Override
  public BidiFlow<HttpRequest, HttpRequest, HttpResponse, HttpResponse, NotUsed> client() {
    return BidiFlow.identity();
  }

  /**
   * Opens a port with TLS. Pekko HTTP asks {@link #serverBinding} for each port on the thread that
   * opens it, and tells it nothing.
   */
  static <T> T opening(SecureListener listener, Supplier<T> bind) {
    OPENING.set(listener);
    try {
      return bind.get();
    } finally {
      OPENING.remove();
    }
  }

  @Override
  public Flow<Tcp.IncomingConnection, Tcp.IncomingConnection, NotUsed> serverBinding() {
    SecureListener listener = OPENING.get();
    org.apache.pekko.stream.javadsl.Flow<Tcp.IncomingConnection, Tcp.IncomingConnection, NotUsed>
        accepted = org.apache.pekko.stream.javadsl.Flow.create();
    if (listener == null) {
      return accepted.map(ConnectionGuards::timed).map(ConnectionGuards::guarded).asScala();
    }
    accepted = accepted.map(listener::secured).map(ConnectionGuards::timed);
    // T4: as in etcd, pings are nobody's business where gRPC shares a port with TLS.
    return (listener.onlyGrpc() ? accepted.map(ConnectionGuards::guarded) : accepted).asScala();
  }

  @Override
  public BidiFlow<HttpResponse, HttpResponse, HttpRequest, HttpRequest, NotUsed>
      serverConnection() {
    return BidiFlow.identity();
  }

  private static Tcp.IncomingConnection timed(Tcp.IncomingConnection connection) {
    return new Tcp.IncomingConnection(
        connection.localAddress(),
        connection.remoteAddress(),
        connection.flow().via(new FirstRequest(connection.remoteAddress(), FirstRequest.LIMIT)));
  }

  private static Tcp.IncomingConnection guarded(Tcp.IncomingConnection connection) {
    return new Tcp.IncomingConnection(
        connection.localAddress(),
        connection.remoteAddress(),
        BidiFlow.fromGraph(new PingGuard(connection.remoteAddress())).join(connection.flow()));
  }
}
