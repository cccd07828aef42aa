package io.troupe.grpc.http;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import org.apache.pekko.Done;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.impl.engine.server.MasterServerTerminator;
import org.apache.pekko.http.impl.engine.server.ServerTerminator;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.SystemMaterializer;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;
import scala.concurrent.ExecutionContext;
import scala.concurrent.Future;
import scala.jdk.javaapi.FutureConverters;

/**
 * What happens to the connections of one port, wherever they come from: TLS is taken off, the
 * guards watch their bytes, HTTP is spoken.
 */
final class ClientPort implements Connections {
  private final HttpLayer http;
  private final ConnectionLimits limits;
  private final BiFunction<HttpRequest, ClientInfo, CompletionStage<HttpResponse>> handler;
  private final @Nullable SecureListener secure;
  private final boolean http2Too;
  private final boolean policesPings;
  private final long minPingNanos;
  private final MasterServerTerminator connections;
  private final Materializer materializer;
  private final ExecutionContext executor;

  /**
   * A port.
   *
   * @param keepAlive pings of its connections
   * @param limits of each connection
   * @param secure takes TLS off; null without it
   * @param handler answers a request; never fails
   */
  ClientPort(
      ActorSystem<?> system,
      KeepAlive keepAlive,
      ConnectionLimits limits,
      GrpcServer.Listener serves,
      @Nullable SecureListener secure,
      BiFunction<HttpRequest, ClientInfo, CompletionStage<HttpResponse>> handler) {
    boolean grpcToo = serves == GrpcServer.Listener.ALL || serves == GrpcServer.Listener.GRPC;
    this.http2Too = grpcToo || secure != null;
    this.http = new HttpLayer(system, http2Too, keepAlive);
    this.limits = limits;
    this.handler = handler;
    this.secure = secure;
    // T4: as in etcd, pings are nobody's business where gRPC shares a port with TLS.
    this.policesPings = secure != null ? serves == GrpcServer.Listener.GRPC : grpcToo;
    this.minPingNanos = keepAlive.minTime().toNanos();
    this.connections = new MasterServerTerminator(system.classicSystem().log());
    this.materializer = SystemMaterializer.get(system).materializer();
    this.executor = system.executionContext();
  }

  @Override
  public CompletionStage<Done> serve(ClientConnection accepted) {
    SecureConnection tls = secure == null ? null : secure.secured(accepted);
    return conversation(accepted, tls)
        .join(tls == null ? accepted.bytes() : tls.limited())
        .addAttributes(attributes())
        .run(materializer)
        // Whatever ends a connection ends nothing else.
        .exceptionally(failure -> Done.getInstance());
  }

  /**
   * From what a client sends to what it gets; done when the connection has ended. To be run once.
   *
   * @param tls takes TLS off; null if the connection has none
   */
  Flow<ByteString, ByteString, CompletionStage<Done>> conversation(
      ClientConnection accepted, @Nullable SecureConnection tls) {
    ConnectionState conversation = accepted.conversation();
    String client = accepted.client();
    Flow<ByteString, ByteString, CompletionStage<Done>> served =
        http.answering(request -> answer(request, visitor(client, conversation, tls)))
            .watchTermination(this::registered);
    if (http2Too) {
      served =
          served.join(new Http2FrameInspector(client, conversation, limits, policesPings, minPingNanos));
    }
    served =
        served.join(new Http1TimeoutStage(client, conversation, Http1TimeoutStage.Limits.USUAL));
    return tls == null ? served : served.join(tls.decrypting());
  }

  /** Of the whole connection. */
  Attributes attributes() {
    return http.attributes();
  }

  private ClientInfo visitor(
      String client, ConnectionState conversation, @Nullable SecureConnection tls) {
    return tls == null
        ? ClientInfo.plain(client, conversation)
        : new ClientInfo(true, tls.login(), client, conversation);
  }

  private CompletionStage<HttpResponse> answer(HttpRequest request, ClientInfo visitor) {
    if (!isHttp2(request)) {
      return visitor.conversation().answering(handler.apply(request, visitor));
    }
    if (!visitor.conversation().awaits(HttpLayer.stream(request))) {
      // Reset while the request waited for a thread: the HTTP layer drops this response.
      request.discardEntityBytes(materializer);
      return CompletableFuture.completedFuture(HttpResponse.create());
    }
    return handler.apply(request, visitor);
  }

  /** Whether a request came over HTTP/2. */
  static boolean isHttp2(HttpRequest request) {
    return request.protocol().value().equals("HTTP/2.0");
  }

  private CompletionStage<Done> registered(
      Future<ServerTerminator> terminator, CompletionStage<Done> ended) {
    terminator.foreach(
        connection -> {
          connections.registerConnection(connection, executor);
          return ended.handle(
              (done, failure) -> {
                connections.removeConnection(connection);
                return done;
              });
        },
        executor);
    return ended;
  }

  @Override
  public CompletionStage<Done> close(Duration grace) {
    return FutureConverters.asJava(
            connections.terminate(
                scala.concurrent.duration.Duration.fromNanos(grace.toNanos()), executor))
        .thenApply(terminated -> Done.getInstance());
  }
}
