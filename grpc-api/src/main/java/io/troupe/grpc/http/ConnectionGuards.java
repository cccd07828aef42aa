package io.troupe.grpc.http;

import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.http.impl.engine.http2.TelemetrySpi;
import org.apache.pekko.http.scaladsl.model.HttpRequest;
import org.apache.pekko.http.scaladsl.model.HttpResponse;
import org.apache.pekko.stream.scaladsl.BidiFlow;
import org.apache.pekko.stream.scaladsl.Flow;
import org.apache.pekko.stream.scaladsl.Tcp;

/**
 * Puts a {@link PingGuard} on every accepted connection. Pekko HTTP offers no other place where the
 * bytes of a connection can be seen: it makes an object of the class that {@code
 * pekko.http.http2-telemetry-class} names (docs/decisions/0005).
 */
public final class ConnectionGuards implements TelemetrySpi {

  /** Called by Pekko HTTP. */
  public ConnectionGuards(ActorSystem system) {}

  @Override
  public BidiFlow<HttpRequest, HttpRequest, HttpResponse, HttpResponse, NotUsed> client() {
    return BidiFlow.identity();
  }

  @Override
  public Flow<Tcp.IncomingConnection, Tcp.IncomingConnection, NotUsed> serverBinding() {
    return org.apache.pekko.stream.javadsl.Flow.<Tcp.IncomingConnection>create()
        .map(ConnectionGuards::guarded)
        .asScala();
  }

  @Override
  public BidiFlow<HttpResponse, HttpResponse, HttpRequest, HttpRequest, NotUsed>
      serverConnection() {
    return BidiFlow.identity();
  }

  private static Tcp.IncomingConnection guarded(Tcp.IncomingConnection connection) {
    return new Tcp.IncomingConnection(
        connection.localAddress(),
        connection.remoteAddress(),
        BidiFlow.fromGraph(new PingGuard(connection.remoteAddress())).join(connection.flow()));
  }
}
