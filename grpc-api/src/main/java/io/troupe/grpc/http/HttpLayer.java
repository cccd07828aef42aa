package io.troupe.grpc.http;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.event.LoggingAdapter;
import org.apache.pekko.http.impl.engine.http2.Http2;
import org.apache.pekko.http.impl.engine.http2.Http2Blueprint;
import org.apache.pekko.http.impl.engine.http2.NoOpTelemetry$;
import org.apache.pekko.http.impl.engine.http2.ProtocolSwitch;
import org.apache.pekko.http.impl.engine.parsing.ParserOutput.MessageStartError;
import org.apache.pekko.http.impl.engine.parsing.ParserOutput.RequestOutput;
import org.apache.pekko.http.impl.engine.parsing.ParserOutput.RequestStart;
import org.apache.pekko.http.impl.engine.rendering.DateHeaderRendering;
import org.apache.pekko.http.impl.engine.rendering.ResponseRenderingContext;
import org.apache.pekko.http.impl.engine.server.GracefulTerminatorStage;
import org.apache.pekko.http.impl.engine.server.HttpServerBluePrint$;
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
import org.apache.pekko.stream.TLSProtocol.SessionBytes;
import org.apache.pekko.stream.TLSProtocol.SslTlsInbound;
import org.apache.pekko.stream.TLSProtocol.SslTlsOutbound;
import org.apache.pekko.stream.javadsl.BidiFlow;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Keep;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.stream.javadsl.TLSPlacebo;
import org.apache.pekko.util.ByteString;
import scala.concurrent.ExecutionContext;
import scala.concurrent.Future;
import scala.jdk.javaapi.FutureConverters;

/**
 * Pekko HTTP over the bytes of one connection: the parts that its own bind puts together, without
 * its socket, so that connections can come from anywhere and each have a handler of its own
 * (docs/decisions/0118). Immutable.
 */
final class HttpLayer {
  /** Buffers of fewer calls than that are made at once, larger ones grow with the calls. */
  private static final int MOST_AT_ONCE = 128;

  private final ServerSettings settings;
  private final ExecutionContext executor;
  private final BidiFlow<HttpResponse, SslTlsOutbound, SslTlsInbound, HttpRequest, ServerTerminator>
      http1;
  private final BidiFlow<HttpResponse, SslTlsOutbound, SslTlsInbound, HttpRequest, ServerTerminator>
      http2;
  private final boolean http2Too;

  /**
   * A layer; costs some milliseconds, so there is one for a port.
   *
   * @param http2Too whether HTTP/2 is spoken to who begins with its preface
   * @param keepAlive when clients are pinged
   */
  HttpLayer(ActorSystem<?> system, boolean http2Too, KeepAlive keepAlive) {
    HttpExt http = Http.apply(system);
    LoggingAdapter log = system.classicSystem().log();
    KeepAlive even = keepAlive.even();
    org.apache.pekko.http.javadsl.settings.ServerSettings configured =
        org.apache.pekko.http.javadsl.settings.ServerSettings.create(system.classicSystem());
    // Off first: each step alone has to be a pair that is allowed.
    Http2ServerSettings pings =
        configured
            .getHttp2Settings()
            .withPingInterval(Duration.ZERO)
            .withPingTimeout(even.timeout())
            .withPingInterval(even.interval());
    this.settings =
        (ServerSettings)
            configured
                .withHttp2Settings(pings)
                .withDefaultHostHeader(Host.create(AccessRules.NO_HOST));
    this.executor = system.executionContext();
    this.http2Too = http2Too;
    this.http1 =
        BidiFlow.fromGraph(new GracefulTerminatorStage(settings))
            .atop(layer(settings, log, http.dateHeaderRendering()));
    this.http2 =
        Http2Blueprint.serverStackTls(
                settings, log, NoOpTelemetry$.MODULE$, http.dateHeaderRendering())
            .asJava();
  }

  /**
   * Answers the requests of one connection.
   *
   * @param handler never fails
   * @return from what the client sends to what it gets; tells how to end it gracefully once the
   *     first bytes came
   */
  Flow<ByteString, ByteString, Future<ServerTerminator>> answering(
      Function<
              org.apache.pekko.http.javadsl.model.HttpRequest,
              CompletionStage<org.apache.pekko.http.javadsl.model.HttpResponse>>
          handler) {
    Flow<SslTlsInbound, SslTlsOutbound, ServerTerminator> one =
        Flow.<HttpRequest>create()
            .mapAsync(settings.pipeliningLimit(), request -> scala(handler.apply(request)))
            .joinMat(http1, Keep.right());
    Flow<SslTlsInbound, SslTlsOutbound, ServerTerminator> two = one;
    if (http2Too) {
      Flow<HttpRequest, HttpResponse, NotUsed> streams =
          Http2Blueprint.handleWithStreamIdHeader(
                  settings.http2Settings().maxConcurrentStreams(),
                  request -> answer(handler, request),
                  executor)
              .asJava()
              // A buffer for all streams that there could be is not made before they are there.
              .addAttributes(ActorAttributes.maxFixedBufferSize(MOST_AT_ONCE));
      two = streams.joinMat(http2, Keep.right());
    }
    Flow<SslTlsInbound, SslTlsOutbound, Future<ServerTerminator>> both =
        ProtocolSwitch.byPreface(one.asScala(), two.asScala()).asJava();
    return TLSPlacebo.getInstance().reversed().join(plain(both), Keep.right());
  }

  /** The parts of Pekko HTTP's own {@code serverLayer} in its order, and a check among them. */
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
   * Refuses a body in chunks over HTTP/1.0, whose framing counts as faulty (RFC 9112 section 6.1):
   * of such a request no object can be made, and the attempt would look like a failure of ours.
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

  private static Future<HttpResponse> answer(
      Function<
              org.apache.pekko.http.javadsl.model.HttpRequest,
              CompletionStage<org.apache.pekko.http.javadsl.model.HttpResponse>>
          handler,
      HttpRequest request) {
    try {
      return FutureConverters.asScala(scala(handler.apply(request)));
    } catch (Exception e) {
      return FutureConverters.asScala(CompletableFuture.failedFuture(e));
    }
  }

  /** The stream of a request over HTTP/2; {@link ConnectionState#NO_STREAM} over HTTP/1.1. */
  static int stream(org.apache.pekko.http.javadsl.model.HttpRequest request) {
    return request
        .getAttribute(Http2.streamId())
        .map(Integer.class::cast)
        .orElse(ConnectionState.NO_STREAM);
  }

  /** How late a stage of a connection may cancel the others: as in Pekko HTTP's own bind. */
  Attributes attributes() {
    return Http$.MODULE$.cancellationStrategyAttributeForDelay(settings.streamCancellationDelay());
  }

  /** Every response of the Java API is one of the Scala API. */
  @SuppressWarnings("unchecked")
  private static CompletionStage<HttpResponse> scala(
      CompletionStage<org.apache.pekko.http.javadsl.model.HttpResponse> response) {
    return (CompletionStage<HttpResponse>) (CompletionStage<?>) response;
  }

  /** A flow that takes whatever may come takes the bytes of a session. */
  @SuppressWarnings("unchecked")
  private static <M> Flow<SessionBytes, SslTlsOutbound, M> plain(
      Flow<SslTlsInbound, SslTlsOutbound, M> flow) {
    return (Flow<SessionBytes, SslTlsOutbound, M>) (Flow<?, SslTlsOutbound, M>) flow;
  }
}
