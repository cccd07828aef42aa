package io.troupe.grpc.http;

import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import io.troupe.grpc.error.GrpcErrors;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.grpc.json.JsonPaths;
import io.troupe.grpc.service.Call;
import io.troupe.metrics.RpcMetrics.MethodMeter;
import io.troupe.protocol.RefusedException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.DispatcherSelector;
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

  private static final HttpHeader MIRRORED =
      RawHeader.create("Grpc-Metadata-Content-Type", "application/grpc");

  private final GrpcMethods methods;
  private final CallInterceptors gates;
  private final Readiness readiness;
  private final Materializer materializer;
  private final JsonUnary calls;
  private final JsonStreams streams;

  JsonGateway(
      GrpcMethods methods,
      CallInterceptors gates,
      Readiness readiness,
      int maxReceiveBytes,
      ActorSystem<?> system,
      JsonUnary.Identity identity) {
    this.methods = methods;
    this.gates = gates;
    this.readiness = readiness;
    this.materializer = SystemMaterializer.get(system).materializer();
    Executor json =
        system.dispatchers().lookup(DispatcherSelector.fromConfig("troupe-dispatchers.json"));
    this.calls = new JsonUnary(maxReceiveBytes, system, json, identity);
    this.streams = new JsonStreams(gates, maxReceiveBytes, system, json);
  }

  /**
   * Answers a request; never fails.
   *
   * @param path below /v3/
   */
  CompletionStage<HttpResponse> handle(HttpRequest request, String path, ClientInfo visitor) {
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
      HttpRequest request, String path, MethodDescriptor method, ClientInfo visitor) {
    GrpcMethods.Streaming streaming = methods.streaming(path);
    GrpcMethods.Unary unary =
        streaming != null && !method.isServerStreaming()
            ? ofOneAnswer(streaming, method, visitor.conversation(), HttpLayer.stream(request))
            : methods.unary(path);
    Call call;
    try {
      List<HttpHeader> metadata = metadata(request);
      // A14: a certificate is no login here.
      call =
          gates.admit(
              path, unary == null, metadata, visitor.withoutLogin(), HttpLayer.stream(request));
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
      return calls.handle(
          request, new JsonUnary.Running(unary, method, meter, call, visitor.conversation()));
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
      ConnectionState conversation,
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

  /** A call's time is over. */
  static GrpcException deadlineExceeded() {
    return new GrpcException(GrpcStatus.DEADLINE_EXCEEDED, "context deadline exceeded");
  }

  /** Its client has given it up. */
  static GrpcException canceled() {
    return new GrpcException(GrpcStatus.CANCELED, "context canceled");
  }

  /** The beginning of every response that is no error. */
  static HttpResponse mirrored() {
    return HttpResponse.create().addHeader(MIRRORED);
  }

  /** J5. */
  static HttpResponse error(GrpcStatus status) {
    return HttpResponse.create()
        .withStatus(httpStatus(status.code()))
        .withEntity(ContentTypes.APPLICATION_JSON, JsonText.of(status));
  }

  /** The beginning of a stream of lines. */
  static HttpResponse stream(Source<ByteString, ?> lines) {
    return mirrored().withEntity(HttpEntities.createChunked(ContentTypes.APPLICATION_JSON, lines));
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
