package io.troupe.grpc.http;

import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import com.google.protobuf.MessageOrBuilder;
import io.troupe.grpc.error.GrpcErrors;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.grpc.json.JsonMessages;
import io.troupe.grpc.json.JsonPaths;
import io.troupe.grpc.service.Call;
import io.troupe.metrics.RpcMetrics.MethodMeter;
import io.troupe.model.Bytes;
import io.troupe.protocol.RefusedException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.model.AttributeKeys;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpMethods;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCode;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.javadsl.model.ws.WebSocketUpgrade;
import org.apache.pekko.japi.Pair;
import org.apache.pekko.stream.KillSwitches;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.SystemMaterializer;
import org.apache.pekko.stream.UniqueKillSwitch;
import org.apache.pekko.stream.javadsl.Keep;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/**
 * etcd's methods over HTTP/1.1 and JSON (5.3). Calls pass the same gates, meters and services as
 * those of gRPC; only their messages are translated on the way in and out.
 */
final class JsonGateway {
  private static final String METADATA = "grpc-metadata-";
  private static final StatusCode CLIENT_CLOSED =
      StatusCodes.custom(499, "Client Closed Request", "", false, true);

  /** Base64 is a third longer than what it stands for; escapes may be longer. */
  private static final int JSON_PER_BYTE = 2;

  private static final HttpHeader MIRRORED =
      RawHeader.create("Grpc-Metadata-Content-Type", "application/grpc");

  private final GrpcMethods methods;
  private final CallGates gates;
  private final Readiness readiness;
  private final int maxReceiveBytes;
  private final ActorSystem<?> system;
  private final Materializer materializer;
  private final JsonStreams streams;

  JsonGateway(
      GrpcMethods methods,
      CallGates gates,
      Readiness readiness,
      int maxReceiveBytes,
      ActorSystem<?> system) {
    this.methods = methods;
    this.gates = gates;
    this.readiness = readiness;
    this.maxReceiveBytes = maxReceiveBytes;
    this.system = system;
    this.materializer = SystemMaterializer.get(system).materializer();
    this.streams = new JsonStreams(gates, maxReceiveBytes, system);
  }

  /**
   * Answers a request; never fails.
   *
   * @param path below /v3/
   */
  CompletionStage<HttpResponse> handle(HttpRequest request, String path, Visitor visitor) {
    WebSocketUpgrade upgrade = request.getAttribute(AttributeKeys.webSocketUpgrade).orElse(null);
    if (upgrade != null) {
      return CompletableFuture.completedFuture(
          new JsonWebSocket(this, materializer).accept(request, path, upgrade, visitor));
    }
    String grpcPath = JsonPaths.method(path);
    MethodDescriptor method = grpcPath == null ? null : methods.descriptor(grpcPath);
    if (grpcPath == null || method == null) {
      return refuse(request, new GrpcStatus(GrpcStatus.NOT_FOUND, "Not Found"));
    }
    if (!request.method().equals(HttpMethods.POST)) {
      return refuse(request, new GrpcStatus(GrpcStatus.UNIMPLEMENTED, "Method Not Allowed"));
    }
    if (readiness.isReady()) {
      return ready(request, grpcPath, method, visitor);
    }
    return readiness
        .await()
        .handle(
            (ready, failure) ->
                failure == null
                    ? ready(request, grpcPath, method, visitor)
                    : refuse(request, GrpcErrors.of(failure)))
        .thenCompose(answer -> answer);
  }

  private CompletionStage<HttpResponse> refuse(HttpRequest request, GrpcStatus status) {
    request.discardEntityBytes(materializer);
    return CompletableFuture.completedFuture(error(status));
  }

  private CompletionStage<HttpResponse> ready(
      HttpRequest request, String path, MethodDescriptor method, Visitor visitor) {
    GrpcMethods.Streaming streaming = methods.streaming(path);
    GrpcMethods.Unary unary =
        streaming != null && !method.isServerStreaming()
            ? ofOneAnswer(streaming, method, visitor.conversation(), HttpLayer.stream(request))
            : methods.unary(path);
    Call call;
    try {
      List<HttpHeader> metadata = metadata(request);
      // A14: a certificate is no login here.
      call = gates.admit(path, unary == null, metadata, visitor.withoutLogin());
    } catch (GrpcException notMetadata) {
      return refuse(request, GrpcErrors.of(notMetadata));
    } catch (RefusedException refused) {
      GrpcStatus status = GrpcErrors.of(refused);
      methods.meter(path).refused(status.code());
      return refuse(request, status);
    }
    MethodMeter meter = methods.meter(path);
    meter.started();
    if (unary != null) {
      return unary(request, new Running(unary, method, meter, call));
    }
    if (streaming != null) {
      return streams.handle(
          request,
          path,
          new JsonStreams.Method(
              streaming, method, meter, visitor.conversation(), HttpLayer.stream(request)),
          call);
    }
    throw new IllegalStateException("declared, but not answered: " + path);
  }

  /**
   * A call that waits for its turn is served as a stream, of one answer. It ends when its client
   * gives it up: the HTTP layer would not tell, since there is no answer yet.
   */
  private GrpcMethods.Unary ofOneAnswer(
      GrpcMethods.Streaming streaming,
      MethodDescriptor method,
      Conversation conversation,
      int stream) {
    return (request, call) -> {
      Pair<UniqueKillSwitch, CompletionStage<ByteString>> running =
          streaming
              .call(Source.single(request), call)
              .viaMat(KillSwitches.single(), Keep.right())
              .toMat(Sink.head(), Keep.both())
              .run(materializer);
      Runnable gone = () -> running.first().abort(canceled());
      conversation.whenGone(stream, gone);
      return running
          .second()
          .whenComplete((frame, failure) -> conversation.forget(stream, gone))
          .thenApply(frame -> message(frame, method));
    };
  }

  private static DynamicMessage message(ByteString frame, MethodDescriptor method) {
    try {
      return DynamicMessage.parseFrom(
          method.getOutputType(), frame.drop(GrpcFrames.HEADER).toArray());
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("a message that was just made does not decode", e);
    }
  }

  /** J7, J8: headers by the names that gRPC has for them; those of HTTP itself stay behind. */
  static List<HttpHeader> metadata(HttpRequest request) {
    List<HttpHeader> metadata = new ArrayList<>();
    for (HttpHeader header : request.getHeaders()) {
      String name = header.lowercaseName();
      if (name.startsWith(METADATA)) {
        metadata.add(RawHeader.create(name.substring(METADATA.length()), header.value()));
      } else if (name.equals("authorization")
          || name.equals("traceparent")
          || name.equals("tracestate")) {
        metadata.add(RawHeader.create(name, header.value()));
      } else if (name.equals("grpc-timeout")) {
        if (CallMetadata.timeout(header.value()).isEmpty()) {
          throw new GrpcException(
              GrpcStatus.INVALID_ARGUMENT, "invalid grpc-timeout: " + header.value());
        }
        metadata.add(header);
      }
    }
    return metadata;
  }

  /** A unary call from its start to its end. */
  private record Running(
      GrpcMethods.Unary unary, MethodDescriptor method, MethodMeter meter, Call call) {}

  private CompletionStage<HttpResponse> unary(HttpRequest request, Running running) {
    long startNanos = System.nanoTime();
    CompletionStage<MessageLite> reply =
        BodyTime.limited(RequestDrain.body(request, maxReceiveBytes), BodyTime.LIMIT)
            .via(new JsonBody((long) maxReceiveBytes * JSON_PER_BYTE))
            .runWith(Sink.headOption(), materializer)
            .thenCompose(
                body -> call(running, body.orElseGet(() -> Bytes.wrap(new byte[] {'{', '}'}))));
    return inTime(reply, running.call())
        .handle(
            (message, failure) -> {
              GrpcStatus status = failure == null ? GrpcStatus.OK : GrpcResponses.status(failure);
              running.call().ended(status.code());
              running.meter().ended(status.code(), System.nanoTime() - startNanos);
              if (failure != null) {
                return error(status);
              }
              running.meter().sent(1, message.getSerializedSize());
              return answer((MessageOrBuilder) message);
            });
  }

  private CompletionStage<MessageLite> call(Running running, Bytes json) {
    Bytes message = JsonMessages.parse(json, running.method().getInputType());
    running.meter().received(message.length());
    GrpcFrames.checkSize(message.length(), maxReceiveBytes);
    try {
      return running.unary().call(message, running.call()).thenApply(reply -> reply);
    } catch (IOException e) {
      throw new IllegalStateException("a message that was just made does not decode", e);
    }
  }

  /** J8: what is asked for may happen all the same. */
  private CompletionStage<MessageLite> inTime(CompletionStage<MessageLite> reply, Call call) {
    Duration timeout = call.timeout().orElse(null);
    if (timeout == null) {
      return reply;
    }
    CompletableFuture<MessageLite> first = new CompletableFuture<>();
    Cancellable end =
        system
            .scheduler()
            .scheduleOnce(
                timeout,
                () -> first.completeExceptionally(deadlineExceeded()),
                system.executionContext());
    // The scheduler is coarse; whoever names a short time means it.
    long startNanos = System.nanoTime();
    reply.whenComplete(
        (message, failure) -> {
          end.cancel();
          if (System.nanoTime() - startNanos > timeout.toNanos()) {
            first.completeExceptionally(deadlineExceeded());
          } else if (failure == null) {
            first.complete(message);
          } else {
            first.completeExceptionally(failure);
          }
        });
    return first;
  }

  /** A call's time is over. */
  static GrpcException deadlineExceeded() {
    return new GrpcException(GrpcStatus.DEADLINE_EXCEEDED, "context deadline exceeded");
  }

  /** Nobody waits for it any more. */
  static GrpcException canceled() {
    return new GrpcException(GrpcStatus.CANCELED, "context canceled");
  }

  private static HttpResponse answer(MessageOrBuilder message) {
    return HttpResponse.create()
        .addHeader(MIRRORED)
        .withEntity(ContentTypes.APPLICATION_JSON, JsonMessages.print(message));
  }

  /** J5. */
  static HttpResponse error(GrpcStatus status) {
    return HttpResponse.create()
        .withStatus(httpStatus(status.code()))
        .withEntity(ContentTypes.APPLICATION_JSON, JsonText.of(status));
  }

  /** The beginning of a stream of lines. */
  static HttpResponse stream(Source<ByteString, ?> lines) {
    return HttpResponse.create()
        .addHeader(MIRRORED)
        .withEntity(HttpEntities.createChunked(ContentTypes.APPLICATION_JSON, lines));
  }

  private static StatusCode httpStatus(int code) {
    return switch (code) {
      case 0 -> StatusCodes.OK;
      case GrpcStatus.CANCELED -> CLIENT_CLOSED;
      case GrpcStatus.INVALID_ARGUMENT, GrpcStatus.FAILED_PRECONDITION, GrpcStatus.OUT_OF_RANGE ->
          StatusCodes.BAD_REQUEST;
      case GrpcStatus.DEADLINE_EXCEEDED -> StatusCodes.GATEWAY_TIMEOUT;
      case GrpcStatus.NOT_FOUND -> StatusCodes.NOT_FOUND;
      case GrpcStatus.ALREADY_EXISTS, GrpcStatus.ABORTED -> StatusCodes.CONFLICT;
      case GrpcStatus.PERMISSION_DENIED -> StatusCodes.FORBIDDEN;
      case GrpcStatus.RESOURCE_EXHAUSTED -> StatusCodes.TOO_MANY_REQUESTS;
      case GrpcStatus.UNIMPLEMENTED -> StatusCodes.NOT_IMPLEMENTED;
      case GrpcStatus.UNAVAILABLE -> StatusCodes.SERVICE_UNAVAILABLE;
      case GrpcStatus.UNAUTHENTICATED -> StatusCodes.UNAUTHORIZED;
      default -> StatusCodes.INTERNAL_SERVER_ERROR;
    };
  }
}
