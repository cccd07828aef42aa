package io.troupe.edge.engine;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.Done;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.event.LoggingAdapter;
import org.apache.pekko.http.impl.engine.http2.Http2;
import org.apache.pekko.http.impl.engine.http2.Http2Blueprint;
import org.apache.pekko.http.impl.engine.http2.Http2StreamHandling;
import org.apache.pekko.http.impl.engine.http2.NoOpTelemetry$;
import org.apache.pekko.http.impl.engine.http2.ProtocolSwitch;
import org.apache.pekko.http.impl.engine.parsing.ParserOutput.MessageStartError;
import org.apache.pekko.http.impl.engine.parsing.ParserOutput.RequestOutput;
import org.apache.pekko.http.impl.engine.parsing.ParserOutput.RequestStart;
import org.apache.pekko.http.impl.engine.rendering.DateHeaderRendering;
import org.apache.pekko.http.impl.engine.rendering.ResponseRenderingContext;
import org.apache.pekko.http.impl.engine.server.GracefulTerminatorStage;
import org.apache.pekko.http.impl.engine.server.HttpServerBluePrint$;
import org.apache.pekko.http.impl.engine.server.MasterServerTerminator;
import org.apache.pekko.http.impl.engine.server.ServerTerminator;
import org.apache.pekko.http.javadsl.model.HttpProtocols;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.javadsl.model.headers.Host;
import org.apache.pekko.http.javadsl.settings.Http2ServerSettings;
import org.apache.pekko.http.scaladsl.Http;
import org.apache.pekko.http.scaladsl.Http$;
import org.apache.pekko.http.scaladsl.HttpExt;
import org.apache.pekko.http.scaladsl.model.ErrorInfo;
import org.apache.pekko.http.scaladsl.model.HttpRequest;
import org.apache.pekko.http.scaladsl.model.HttpResponse;
import org.apache.pekko.http.scaladsl.model.StatusCode;
import org.apache.pekko.http.scaladsl.settings.ServerSettings;
import org.apache.pekko.japi.function.Function;
import org.apache.pekko.stream.ActorAttributes;
import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.FlowShape;
import org.apache.pekko.stream.Graph;
import org.apache.pekko.stream.TLSProtocol.SendBytes;
import org.apache.pekko.stream.TLSProtocol.SessionBytes;
import org.apache.pekko.stream.TLSProtocol.SslTlsInbound;
import org.apache.pekko.stream.TLSProtocol.SslTlsOutbound;
import org.apache.pekko.stream.javadsl.BidiFlow;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Keep;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import scala.concurrent.ExecutionContext;
import scala.concurrent.Future;
import scala.jdk.javaapi.FutureConverters;

/**
 * Pekko HTTP over the bytes of the connections of one port: the parts that its own bind combines,
 * without its socket. Connections can therefore come from any transport, and each has its own
 * handler (docs/decisions/0118, docs/components/http-engine.md). Thread-safe.
 */
public final class HttpLayer {
  /** The stream of a request over HTTP/1.1. */
  public static final int NO_STREAM = 0;

  /**
   * Stands for the host that a request does not name, as health checks of load balancers do. No
   * host can have this name (RFC 6761).
   */
  public static final String NO_HOST = "host.invalid";

  /** Buffers for fewer calls are allocated immediately; larger buffers grow with the calls. */
  private static final int MOST_AT_ONCE = 128;

  private final ServerSettings settings;
  private final ExecutionContext executor;
  private final BidiFlow<HttpResponse, SslTlsOutbound, SslTlsInbound, HttpRequest, ServerTerminator>
      http1;
  private final BidiFlow<HttpResponse, SslTlsOutbound, SslTlsInbound, HttpRequest, ServerTerminator>
      http2;
  private final boolean http2Too;
  private final MasterServerTerminator connections;

  /**
   * Creates a layer. This takes some milliseconds, so a port has one layer.
   *
   * @param http2Too whether clients that start with the HTTP/2 preface are served
   * @param pingInterval interval of pings to clients, a multiple of the timeout
   * @param pingTimeout time until a client without an answer loses its connection
   */
  public HttpLayer(
      ActorSystem<?> system, boolean http2Too, Duration pingInterval, Duration pingTimeout) {
    HttpExt http = Http.apply(system);
    LoggingAdapter log = system.classicSystem().log();
    org.apache.pekko.http.javadsl.settings.ServerSettings configured =
        org.apache.pekko.http.javadsl.settings.ServerSettings.create(system.classicSystem());
    // Off first: each intermediate pair must be valid.
    Http2ServerSettings pings =
        configured
            .getHttp2Settings()
            .withPingInterval(Duration.ZERO)
            .withPingTimeout(pingTimeout)
            .withPingInterval(pingInterval);
    this.settings =
        (ServerSettings)
            configured.withHttp2Settings(pings).withDefaultHostHeader(Host.create(NO_HOST));
    this.executor = system.executionContext();
    this.http2Too = http2Too;
    this.connections = new MasterServerTerminator(log);
    this.http1 =
        BidiFlow.fromGraph(new GracefulTerminatorStage(settings))
            .atop(layer(settings, log, http.dateHeaderRendering()));
    this.http2 =
        Http2Blueprint.serverStackTls(
                settings, log, NoOpTelemetry$.MODULE$, http.dateHeaderRendering())
            .asJava();
  }

  /**
   * Serves the requests of one connection.
   *
   * @param requests passes the requests on; runs on the connection's thread. Materialized once, for
   *     the version of HTTP that the client speaks
   * @param handler never fails
   * @return a flow from the client's bytes to the bytes for the client; its materialized value
   *     completes when the connection is closed
   */
  public Flow<ByteString, ByteString, CompletionStage<Done>> serving(
      Graph<FlowShape<HttpRequest, HttpRequest>, NotUsed> requests,
      Function<
              org.apache.pekko.http.javadsl.model.HttpRequest,
              CompletionStage<org.apache.pekko.http.javadsl.model.HttpResponse>>
          handler) {
    Flow<SslTlsInbound, SslTlsOutbound, ServerTerminator> one =
        Flow.fromGraph(requests)
            .mapAsync(settings.pipeliningLimit(), request -> scala(handler.apply(request)))
            .joinMat(http1, Keep.right());
    Flow<SslTlsInbound, SslTlsOutbound, ServerTerminator> two = one;
    if (http2Too) {
      Flow<HttpRequest, HttpResponse, NotUsed> streams =
          Flow.fromGraph(requests)
              .mapAsyncUnordered(
                  settings.http2Settings().maxConcurrentStreams(),
                  request -> numbered(request, handler.apply(request)))
              // The buffer for the maximum number of streams is not allocated before they exist.
              .addAttributes(ActorAttributes.maxFixedBufferSize(MOST_AT_ONCE));
      two = streams.joinMat(http2, Keep.right());
    }
    Flow<SslTlsInbound, SslTlsOutbound, Future<ServerTerminator>> both =
        ProtocolSwitch.byPreface(one.asScala(), two.asScala()).asJava();
    return Flow.of(ByteString.class)
        .map(HttpLayer::withoutSession)
        .viaMat(both, Keep.right())
        .collectType(SendBytes.class)
        .map(SendBytes::bytes)
        .watchTermination(this::registered);
  }

  private CompletionStage<Done> registered(
      Future<ServerTerminator> terminator, CompletionStage<Done> ended) {
    // The terminator is known after the first bytes.
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

  /**
   * Closes all connections: each may complete its requests for the given time.
   *
   * @return completes when all are closed
   */
  public CompletionStage<Done> close(Duration grace) {
    return FutureConverters.asJava(
            connections.terminate(
                scala.concurrent.duration.Duration.fromNanos(grace.toNanos()), executor))
        .thenApply(terminated -> Done.getInstance());
  }

  /** The parts of Pekko HTTP's {@code serverLayer} in its order, with one additional check. */
  private static BidiFlow<HttpResponse, SslTlsOutbound, SslTlsInbound, HttpRequest, NotUsed> layer(
      ServerSettings settings, LoggingAdapter log, DateHeaderRendering dates) {
    HttpServerBluePrint$ parts = HttpServerBluePrint$.MODULE$;
    BidiFlow<
            ResponseRenderingContext,
            ResponseRenderingContext,
            RequestOutput,
            RequestOutput,
            NotUsed>
        check = BidiFlow.fromFlows(Flow.create(), Flow.fromFunction(HttpLayer::checked));
    return parts
        .userHandlerGuard(settings.pipeliningLimit())
        .atop(parts.requestTimeoutSupport(settings.timeouts().requestTimeout(), log))
        .atop(parts.requestPreparation(settings))
        .atop(parts.controller(settings, log))
        .atop(check.asScala())
        .atop(parts.parsingRendering(settings, log, false, dates))
        .atop(parts.websocketSupport(settings, log))
        .atop(parts.tlsSupport())
        .asJava();
  }

  /**
   * Rejects a chunked body over HTTP/1.0, whose framing is invalid (RFC 9112 section 6.1). The HTTP
   * layer cannot create an object for such a request, and the attempt would look like an internal
   * failure.
   */
  private static RequestOutput checked(RequestOutput part) {
    if (part instanceof RequestStart start
        && start.protocol().equals(HttpProtocols.HTTP_1_0)
        && start.createEntity().apply(Source.<RequestOutput>empty().asScala()).isChunked()) {
      return new MessageStartError(
          StatusCode.int2StatusCode(StatusCodes.BAD_REQUEST.intValue()),
          new ErrorInfo("HTTP/1.0 requests must not have a chunked entity", ""));
    }
    return part;
  }

  /** The response with the number of its stream. */
  private static CompletionStage<HttpResponse> numbered(
      HttpRequest request,
      CompletionStage<org.apache.pekko.http.javadsl.model.HttpResponse> response) {
    Integer stream = (Integer) request.getAttribute(Http2.streamId()).orElseThrow();
    return scala(response)
        .thenApply(made -> (HttpResponse) made.addAttribute(Http2.streamId(), stream));
  }

  /** Whether a request uses HTTP/2. */
  public static boolean isHttp2(org.apache.pekko.http.javadsl.model.HttpRequest request) {
    return request.protocol().value().equals("HTTP/2.0");
  }

  /** Whether a body failed because its HTTP/2 connection broke off. */
  public static boolean isConnectionAborted(Throwable failure) {
    return failure == Http2StreamHandling.ConnectionWasAbortedException();
  }

  /** The stream of an HTTP/2 request; {@link #NO_STREAM} over HTTP/1.1. */
  public static int stream(org.apache.pekko.http.javadsl.model.HttpRequest request) {
    return request.getAttribute(Http2.streamId()).map(Integer.class::cast).orElse(NO_STREAM);
  }

  /**
   * The delay after which a stage of a connection cancels the other stages, as in Pekko HTTP's
   * bind.
   */
  public Attributes attributes() {
    return Http$.MODULE$.cancellationStrategyAttributeForDelay(settings.streamCancellationDelay());
  }

  /** Each response of the Java API is one of the Scala API. */
  @SuppressWarnings("unchecked")
  private static CompletionStage<HttpResponse> scala(
      CompletionStage<org.apache.pekko.http.javadsl.model.HttpResponse> response) {
    return (CompletionStage<HttpResponse>) (CompletionStage<?>) response;
  }

  /**
   * The bytes of a client as Pekko HTTP expects them. Their session would only reach a request with
   * {@code include-tls-session-info-header} or {@code include-ssl-session-attribute}, which are
   * off. Pekko's own {@code TLSPlacebo} has a session of the JDK's default TLS context: to make it
   * takes 0.1 s, and it fails if that context is misconfigured.
   */
  private static SslTlsInbound withoutSession(ByteString bytes) {
    return new SessionBytes(null, bytes);
  }
}
