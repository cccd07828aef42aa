package io.troupe.edge.connection;

import io.troupe.edge.engine.HttpLayer;
import io.troupe.server.ReplyExecutor;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import org.apache.pekko.Done;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.SystemMaterializer;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;

/**
 * Serves the connections of one port, TCP or unix: decrypts TLS, checks the bytes ({@link
 * Http1TimeoutStage}, {@link Http2FrameInspector}) and runs the HTTP layer.
 */
public final class ClientPort implements Connections {
  private final HttpLayer http;
  private final ConnectionLimits limits;
  private final BiFunction<HttpRequest, ClientInfo, CompletionStage<HttpResponse>> handler;
  private final @Nullable SecureListener secure;
  private final boolean http2Too;
  private final boolean enforcesPings;
  private final long minPingNanos;
  private final Materializer materializer;

  /**
   * Creates a port.
   *
   * @param keepAlive pings of its connections
   * @param limits of each connection
   * @param secure decrypts TLS; null without TLS
   * @param handler handles a request; never fails
   */
  public ClientPort(
      ActorSystem<?> system,
      KeepAlive keepAlive,
      ConnectionLimits limits,
      PortServices serves,
      @Nullable SecureListener secure,
      BiFunction<HttpRequest, ClientInfo, CompletionStage<HttpResponse>> handler) {
    boolean grpcToo = serves == PortServices.ALL || serves == PortServices.GRPC;
    this.http2Too = grpcToo || secure != null;
    KeepAlive even = keepAlive.even();
    this.http = new HttpLayer(system, http2Too, even.interval(), even.timeout());
    this.limits = limits;
    this.handler = handler;
    this.secure = secure;
    // T4: as in etcd, pings are not limited where gRPC shares a port with TLS.
    this.enforcesPings = secure != null ? serves == PortServices.GRPC : grpcToo;
    this.minPingNanos = keepAlive.minTime().toNanos();
    this.materializer = SystemMaterializer.get(system).materializer();
  }

  @Override
  public CompletionStage<Done> serve(ClientConnection accepted) {
    SecureConnection tls = secure == null ? null : secure.secured(accepted);
    return flow(accepted, tls)
        .join(tls == null ? accepted.bytes() : tls.limited())
        .addAttributes(attributes())
        .run(materializer)
        // The failure of a connection affects only this connection.
        .exceptionally(failure -> Done.getInstance());
  }

  /**
   * The flow from the client's bytes to the bytes for the client; completes when the connection is
   * closed. Materialize it once.
   *
   * @param tls decrypts TLS; null if the connection has none
   */
  Flow<ByteString, ByteString, CompletionStage<Done>> flow(
      ClientConnection accepted, @Nullable SecureConnection tls) {
    ConnectionState connection = accepted.connection();
    String client = accepted.client();
    ConnectionExecutor<org.apache.pekko.http.scaladsl.model.HttpRequest> executor =
        new ConnectionExecutor<>();
    Flow<ByteString, ByteString, CompletionStage<Done>> served =
        http.serving(
            executor, request -> respond(request, clientInfo(client, connection, tls, executor)));
    if (http2Too) {
      served =
          served.join(
              new Http2FrameInspector(client, connection, limits, enforcesPings, minPingNanos));
    }
    served = served.join(new Http1TimeoutStage(client, connection, Http1TimeoutStage.Limits.USUAL));
    return tls == null ? served : served.join(tls.decrypting());
  }

  /** The attributes of the whole connection. */
  Attributes attributes() {
    return http.attributes();
  }

  private ClientInfo clientInfo(
      String client,
      ConnectionState connection,
      @Nullable SecureConnection tls,
      ReplyExecutor executor) {
    return tls == null
        ? ClientInfo.plain(client, connection, executor)
        : new ClientInfo(true, tls.login(), client, connection, executor);
  }

  private CompletionStage<HttpResponse> respond(HttpRequest request, ClientInfo clientInfo) {
    if (!HttpLayer.isHttp2(request)) {
      return clientInfo.connection().countOpen(handler.apply(request, clientInfo));
    }
    if (!clientInfo.connection().awaits(HttpLayer.stream(request))) {
      // The stream was reset while the request waited for a thread; the HTTP layer drops this
      // response.
      request.discardEntityBytes(materializer);
      return CompletableFuture.completedFuture(HttpResponse.create());
    }
    return handler.apply(request, clientInfo);
  }

  @Override
  public CompletionStage<Done> close(Duration grace) {
    return http.close(grace);
  }
}
