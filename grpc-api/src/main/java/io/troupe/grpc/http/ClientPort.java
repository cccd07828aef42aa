package io.troupe.grpc.http;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import org.apache.pekko.Done;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.impl.engine.server.MasterServerTerminator;
import org.apache.pekko.http.impl.engine.server.ServerTerminator;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.SystemMaterializer;
import org.apache.pekko.stream.javadsl.BidiFlow;
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
final class ClientPort {
  private final HttpLayer http;
  private final BiFunction<HttpRequest, Visitor, CompletionStage<HttpResponse>> handler;
  private final @Nullable SecureListener secure;
  private final @Nullable ConnectionSecurity security;
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
   * @param handler answers a request; never fails
   */
  ClientPort(
      ActorSystem<?> system,
      KeepAlive keepAlive,
      GrpcServer.Listener serves,
      Optional<ConnectionSecurity> security,
      BiFunction<HttpRequest, Visitor, CompletionStage<HttpResponse>> handler) {
    boolean grpcToo = serves == GrpcServer.Listener.ALL || serves == GrpcServer.Listener.GRPC;
    this.http2Too = grpcToo || security.isPresent();
    this.http = new HttpLayer(system, http2Too, keepAlive);
    this.handler = handler;
    this.security = security.orElse(null);
    // Not by a lambda: to link one, its types are loaded, and without TLS nothing of it is.
    ConnectionSecurity tls = this.security;
    this.secure = tls == null ? null : new SecureListener(system, tls, serves);
    // T4: as in etcd, pings are nobody's business where gRPC shares a port with TLS.
    this.policesPings = security.isPresent() ? serves == GrpcServer.Listener.GRPC : grpcToo;
    this.minPingNanos = keepAlive.minTime().toNanos();
    this.connections = new MasterServerTerminator(system.classicSystem().log());
    this.materializer = SystemMaterializer.get(system).materializer();
    this.executor = system.executionContext();
  }

  /** Serves a connection to its end; never fails. */
  CompletionStage<Done> serve(Accepted accepted) {
    Conversation conversation = new Conversation();
    String client = accepted.client();
    SecureConnection tls = secure == null ? null : secure.secured(accepted);
    Flow<ByteString, ByteString, NotUsed> bytes =
        BidiFlow.fromGraph(
                new ConversationGuard(client, conversation, ConversationGuard.Limits.USUAL))
            .join(tls == null ? accepted.bytes() : tls.plain());
    if (http2Too) {
      bytes =
          BidiFlow.fromGraph(new FrameGuard(client, conversation, policesPings, minPingNanos))
              .join(bytes);
    }
    return http.answering(request -> answer(request, visitor(client, conversation, tls)))
        .watchTermination(this::registered)
        .join(bytes)
        .addAttributes(http.attributes())
        .run(materializer)
        // Whatever ends a connection ends nothing else.
        .exceptionally(failure -> Done.getInstance());
  }

  private Visitor visitor(
      String client, Conversation conversation, @Nullable SecureConnection tls) {
    if (tls == null || security == null) {
      return Visitor.plain(client, conversation);
    }
    return new Visitor(true, security.isLogin() ? tls.commonName() : "", client, conversation);
  }

  private CompletionStage<HttpResponse> answer(HttpRequest request, Visitor visitor) {
    CompletionStage<HttpResponse> answer = handler.apply(request, visitor);
    return isHttp2(request) ? answer : visitor.conversation().answering(answer);
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

  /** Ends all connections, those too that still come. */
  CompletionStage<Done> close(Duration grace) {
    return FutureConverters.asJava(
            connections.terminate(
                scala.concurrent.duration.Duration.fromNanos(grace.toNanos()), executor))
        .thenApply(terminated -> Done.getInstance());
  }
}
