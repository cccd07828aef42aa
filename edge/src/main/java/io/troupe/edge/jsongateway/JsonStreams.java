package io.troupe.edge.jsongateway;

import com.google.protobuf.Descriptors.MethodDescriptor;
import io.troupe.edge.calls.CallInterceptors;
import io.troupe.edge.calls.FrameDecoder;
import io.troupe.edge.calls.GrpcFrames;
import io.troupe.edge.calls.GrpcMethods;
import io.troupe.edge.calls.GrpcResponses;
import io.troupe.edge.calls.MeteredResponses;
import io.troupe.edge.calls.RequestDrain;
import io.troupe.edge.connection.ConnectionState;
import io.troupe.edge.json.JsonMessages;
import io.troupe.edge.json.JsonText;
import io.troupe.grpc.error.GrpcErrors;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.metrics.RpcMetrics.MethodMeter;
import io.troupe.model.Bytes;
import io.troupe.server.Call;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.japi.Pair;
import org.apache.pekko.japi.pf.PFBuilder;
import org.apache.pekko.stream.Graph;
import org.apache.pekko.stream.KillSwitches;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.SourceShape;
import org.apache.pekko.stream.SystemMaterializer;
import org.apache.pekko.stream.UniqueKillSwitch;
import org.apache.pekko.stream.javadsl.Keep;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.PartialFunction;

/**
 * Streaming calls over JSON (J6): objects of the request body in, one line per response message
 * out, both at the same time.
 */
final class JsonStreams {
  private static final Logger LOG = LoggerFactory.getLogger(JsonStreams.class);

  /**
   * Time that the HTTP status waits for the first response message, which decides it. After it, the
   * response starts without a message, so that the client sees that its request was accepted.
   */
  private static final Duration FIRST_RESPONSE = Duration.ofSeconds(1);

  /** The request body is invalid: the stream ends without an error line (J6). */
  private static final class BrokenBody extends RuntimeException {
    private static final long serialVersionUID = 1L;

    BrokenBody(GrpcException why) {
      super(why.getMessage(), why, false, false);
    }
  }

  /**
   * The called method.
   *
   * @param connection the connection of the call
   * @param stream the HTTP/2 stream of the call
   */
  record Method(
      GrpcMethods.Streaming streaming,
      MethodDescriptor method,
      MethodMeter meter,
      ConnectionState connection,
      int stream) {}

  private final CallInterceptors interceptors;
  private final int maxReceiveBytes;
  private final ActorSystem<?> system;
  private final Materializer materializer;

  /** Parses and prints JSON. */
  private final Executor json;

  JsonStreams(
      CallInterceptors interceptors, int maxReceiveBytes, ActorSystem<?> system, Executor json) {
    this.json = json;
    this.interceptors = interceptors;
    this.maxReceiveBytes = maxReceiveBytes;
    this.system = system;
    this.materializer = SystemMaterializer.get(system).materializer();
  }

  /** Handles a call; never fails. */
  CompletionStage<HttpResponse> handle(HttpRequest request, String path, Method called, Call call) {
    Source<ByteString, NotUsed> metered;
    try {
      Source<ByteString, NotUsed> responses =
          interceptors.guarded(
              called.streaming().call(requests(request, called), call), path, call);
      metered = metered(responses, called, call);
    } catch (RuntimeException refused) {
      request.discardEntityBytes(materializer);
      GrpcStatus status = GrpcErrors.of(refused);
      called.meter().ended(status.code(), 0);
      call.ended(status.code());
      called.connection().sent(call.memory());
      call.memory().close();
      return CompletableFuture.completedFuture(JsonGateway.error(status));
    }
    return respond(metered, called);
  }

  private static Source<ByteString, NotUsed> metered(
      Source<ByteString, NotUsed> responses, Method called, Call call) {
    Source<ByteString, NotUsed> limited =
        call.timeout()
            .map(
                timeout ->
                    responses
                        .completionTimeout(timeout)
                        .mapError(TimeoutException.class, late -> JsonGateway.deadlineExceeded()))
            .orElse(responses);
    return limited
        .recoverWithRetries(1, JsonStreams.<ByteString>quietEnd())
        .via(
            new MeteredResponses(
                called.meter(),
                code -> {
                  call.ended(code);
                  called.connection().sent(call.memory());
                }));
  }

  private static <T> PartialFunction<Throwable, Graph<SourceShape<T>, NotUsed>> quietEnd() {
    return new PFBuilder<Throwable, Graph<SourceShape<T>, NotUsed>>()
        .match(
            BrokenBody.class,
            broken -> {
              LOG.debug("closing stream, invalid request body reason={}", broken.getMessage());
              return Source.<T>empty();
            })
        .build();
  }

  /** The messages of the body; a server-streaming call takes only the first. */
  private Source<Bytes, NotUsed> requests(HttpRequest request, Method called) {
    Source<Bytes, NotUsed> objects =
        RequestDrain.body(request, maxReceiveBytes)
            .mapMaterializedValue(ignored -> NotUsed.getInstance())
            .via(
                new JsonBody(
                    (long) maxReceiveBytes * JsonUnary.JSON_PER_BYTE, called.connection().memory()))
            .mapAsync(1, text -> CompletableFuture.supplyAsync(() -> message(text, called), json));
    if (called.method().isClientStreaming()) {
      return objects.mapError(
          new PFBuilder<Throwable, Throwable>()
              .match(GrpcException.class, BrokenBody::new)
              .match(
                  CompletionException.class,
                  failed -> failed.getCause() instanceof GrpcException,
                  failed ->
                      new BrokenBody((GrpcException) Objects.requireNonNull(failed.getCause())))
              .build());
    }
    return objects.take(1).orElse(Source.single(Bytes.EMPTY));
  }

  private Bytes message(Bytes text, Method called) {
    Bytes message = JsonMessages.parse(text, called.method().getInputType());
    GrpcFrames.checkSize(message.length(), maxReceiveBytes);
    called.meter().received(message.length());
    return message;
  }

  /**
   * A response is in memory as a whole while it is converted to JSON, in several copies. The limit
   * covers what one request can store, including its previous record; a watch of a larger revision
   * must request fragments (W17).
   */
  private int maxResponseBytes() {
    long largest = 2L * maxReceiveBytes + (4 << 20);
    long ofHeap = Runtime.getRuntime().maxMemory() / 32;
    return (int) Math.min(Integer.MAX_VALUE, Math.max(largest, ofHeap));
  }

  private CompletionStage<HttpResponse> respond(Source<ByteString, NotUsed> responses, Method of) {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    Pair<UniqueKillSwitch, CompletionStage<Pair<List<ByteString>, Source<ByteString, NotUsed>>>>
        running =
            responses
                .watchTermination(
                    (before, ended) -> {
                      ended.whenComplete((done, failure) -> closed.complete(null));
                      return before;
                    })
                .via(new FrameDecoder("", maxResponseBytes(), of.connection().memory()))
                .mapAsync(
                    1, message -> CompletableFuture.supplyAsync(() -> result(message, of), json))
                .viaMat(KillSwitches.single(), Keep.right())
                .prefixAndTail(1)
                .toMat(Sink.head(), Keep.both())
                .run(materializer);
    CompletionStage<Pair<List<ByteString>, Source<ByteString, NotUsed>>> first = running.second();
    // A response that its client no longer reads is never run, so its stream must be stopped here.
    Runnable gone = () -> running.first().shutdown();
    of.connection().whenGone(of.stream(), gone);
    CompletionStage<Void> end = closed;
    end.thenRun(() -> of.connection().forget(of.stream(), gone));
    CompletableFuture<HttpResponse> response = new CompletableFuture<>();
    Cancellable waiting =
        system
            .scheduler()
            .scheduleOnce(
                FIRST_RESPONSE,
                () -> response.complete(later(first, running.first())),
                system.executionContext());
    first.whenComplete(
        (begun, failure) -> {
          waiting.cancel();
          response.complete(failure == null ? now(begun) : failed(failure));
        });
    return response;
  }

  private static HttpResponse now(Pair<List<ByteString>, Source<ByteString, NotUsed>> begun) {
    return JsonGateway.stream(lines(begun));
  }

  private static HttpResponse later(
      CompletionStage<Pair<List<ByteString>, Source<ByteString, NotUsed>>> first,
      UniqueKillSwitch stop) {
    return JsonGateway.stream(
        recovered(
            Source.completionStageSource(first.thenApply(JsonStreams::joined))
                .watchTermination(
                    (mat, ended) -> {
                      ended.whenComplete((done, failure) -> stop.shutdown());
                      return NotUsed.getInstance();
                    })));
  }

  private static HttpResponse failed(Throwable failure) {
    return JsonGateway.error(GrpcResponses.status(failure));
  }

  private static Source<ByteString, NotUsed> lines(
      Pair<List<ByteString>, Source<ByteString, NotUsed>> begun) {
    return recovered(joined(begun));
  }

  private static Source<ByteString, NotUsed> joined(
      Pair<List<ByteString>, Source<ByteString, NotUsed>> begun) {
    return Source.from(begun.first()).concat(begun.second());
  }

  /** Converts a failure to the last line. */
  private static Source<ByteString, NotUsed> recovered(Source<ByteString, NotUsed> lines) {
    return lines.recover(
        new PFBuilder<Throwable, ByteString>()
            .matchAny(failure -> line("error", JsonText.of(GrpcResponses.status(failure))))
            .build());
  }

  private static ByteString result(Bytes message, Method of) {
    return line("result", JsonMessages.print(message, of.method().getOutputType()));
  }

  private static ByteString line(String name, String json) {
    return ByteString.fromArrayUnsafe(
        ("{\"" + name + "\":" + json + "}\n").getBytes(StandardCharsets.UTF_8));
  }
}
