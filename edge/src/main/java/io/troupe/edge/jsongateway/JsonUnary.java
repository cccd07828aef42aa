package io.troupe.edge.jsongateway;

import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.MessageLite;
import com.google.protobuf.MessageOrBuilder;
import io.troupe.edge.calls.GrpcFrames;
import io.troupe.edge.calls.GrpcMethods;
import io.troupe.edge.calls.GrpcResponses;
import io.troupe.edge.calls.RequestBodyTimeout;
import io.troupe.edge.calls.RequestDrain;
import io.troupe.edge.connection.ConnectionState;
import io.troupe.edge.json.JsonMessages;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.metrics.RpcMetrics.MethodMeter;
import io.troupe.model.Bytes;
import io.troupe.server.Call;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/**
 * Unary calls over JSON. Parsing and printing run on a separate executor. Each call completes
 * exactly once, whatever fails, and then holds no more memory than its response.
 */
final class JsonUnary {
  /** Base64 is a third longer than its content; escapes may be longer. */
  static final int JSON_PER_BYTE = 2;

  /**
   * From this size on, parsing takes noticeable time, so the caller must be authenticated first.
   */
  private static final int EXPENSIVE = 64 << 10;

  private final int maxReceiveBytes;
  private final ActorSystem<?> system;
  private final Executor json;
  private final Identity identity;

  /** Authenticates the caller. */
  public interface Identity {
    /**
     * Fails if the call's token is invalid.
     *
     * @param known also fails if the call carries no identity and authentication is enabled
     */
    CompletionStage<?> of(Call call, boolean known);
  }

  /**
   * A call from start to end.
   *
   * @param connection the connection of the call
   */
  record Running(
      GrpcMethods.Unary unary,
      MethodDescriptor method,
      MethodMeter meter,
      Call call,
      ConnectionState connection) {}

  JsonUnary(int maxReceiveBytes, ActorSystem<?> system, Executor json, Identity identity) {
    this.maxReceiveBytes = maxReceiveBytes;
    this.system = system;
    this.json = json;
    this.identity = identity;
  }

  /** Handles a call; never fails. */
  CompletionStage<HttpResponse> handle(HttpRequest request, Running running) {
    long startNanos = System.nanoTime();
    try {
      return begin(request, running, startNanos);
    } catch (RuntimeException failure) {
      return CompletableFuture.completedFuture(failed(running, failure, startNanos));
    }
  }

  private CompletionStage<HttpResponse> begin(
      HttpRequest request, Running running, long startNanos) {
    CompletableFuture<MessageLite> outcome = new CompletableFuture<>();
    // Started before any work, so that no work starts if it fails.
    Function<MessageLite, MessageLite> inTime = limit(running.call(), outcome, startNanos);
    body(request, running)
        .thenCompose(
            body -> identity.of(running.call(), body.length() > EXPENSIVE).thenApply(known -> body))
        .thenComposeAsync(body -> call(running, body, outcome), json)
        .thenApply(inTime)
        .whenComplete(
            (message, failure) -> {
              if (failure == null) {
                outcome.complete(message);
              } else {
                outcome.completeExceptionally(failure);
              }
            });
    return outcome
        .<HttpResponse>thenApplyAsync(message -> respond(running, message, startNanos), json)
        .exceptionally(failure -> failed(running, failure, startNanos));
  }

  private CompletionStage<Bytes> body(HttpRequest request, Running running) {
    return RequestBodyTimeout.limited(
            RequestDrain.body(request, maxReceiveBytes), RequestBodyTimeout.LIMIT)
        .via(new JsonBody((long) maxReceiveBytes * JSON_PER_BYTE, running.connection().memory()))
        .runWith(Sink.headOption(), system)
        .thenApply(
            body -> {
              Bytes whole = body.orElseGet(() -> Bytes.wrap(new byte[] {'{', '}'}));
              running.call().memory().take(whole.length());
              return whole;
            });
  }

  private CompletionStage<MessageLite> call(
      Running running, Bytes body, CompletableFuture<MessageLite> outcome) {
    if (outcome.isDone()) {
      throw JsonGateway.deadlineExceeded();
    }
    Bytes message = JsonMessages.parse(body, running.method().getInputType());
    running.meter().received(message.length());
    GrpcFrames.checkSize(message.length(), maxReceiveBytes);
    try {
      return running.unary().call(message, running.call()).thenApply(reply -> reply);
    } catch (IOException e) {
      throw new IllegalStateException("cannot decode a message that was just encoded", e);
    }
  }

  /**
   * J8: a call that times out may still take effect.
   *
   * @return a function that throws if the deadline has passed
   */
  private Function<MessageLite, MessageLite> limit(
      Call call, CompletableFuture<MessageLite> outcome, long startNanos) {
    Duration timeout = call.timeout().orElse(null);
    if (timeout == null) {
      return Function.identity();
    }
    Cancellable end =
        system
            .scheduler()
            .scheduleOnce(
                timeout,
                () -> outcome.completeExceptionally(JsonGateway.deadlineExceeded()),
                system.executionContext());
    CompletionStage<MessageLite> first = outcome;
    first.whenComplete((message, failure) -> end.cancel());
    return message -> {
      // The scheduler is coarse; a short timeout must be exact.
      if (System.nanoTime() - startNanos > timeout.toNanos()) {
        throw JsonGateway.deadlineExceeded();
      }
      return message;
    };
  }

  private HttpResponse respond(Running running, MessageLite message, long startNanos) {
    JsonOutput out = new JsonOutput(running.call().memory());
    try {
      JsonMessages.print((MessageOrBuilder) message, out);
    } catch (IOException e) {
      throw new UncheckedIOException("in-memory output failed", e);
    }
    List<ByteString> pieces = out.pieces();
    running.call().memory().shrinkTo(out.bytes());
    running.call().ended(GrpcStatus.OK.code());
    running.meter().ended(GrpcStatus.OK.code(), System.nanoTime() - startNanos);
    running.meter().sent(1, message.getSerializedSize());
    if (pieces.size() == 1) {
      // Small enough for the socket's buffer.
      running.connection().sent(running.call().memory());
      return JsonGateway.mirrored()
          .withEntity(HttpEntities.create(ContentTypes.APPLICATION_JSON, pieces.get(0)));
    }
    Source<ByteString, NotUsed> sent =
        Source.from(pieces)
            .watchTermination(
                (before, ended) -> {
                  ended.whenComplete(
                      (done, failure) -> running.connection().sent(running.call().memory()));
                  return before;
                });
    return JsonGateway.mirrored()
        .withEntity(HttpEntities.create(ContentTypes.APPLICATION_JSON, out.bytes(), sent));
  }

  private HttpResponse failed(Running running, Throwable failure, long startNanos) {
    running.connection().sent(running.call().memory());
    running.call().memory().close();
    GrpcStatus status = GrpcResponses.status(failure);
    running.call().ended(status.code());
    running.meter().ended(status.code(), System.nanoTime() - startNanos);
    return JsonGateway.error(status);
  }
}
