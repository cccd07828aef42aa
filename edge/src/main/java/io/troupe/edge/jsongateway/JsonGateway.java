package io.troupe.edge.jsongateway;

import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import io.troupe.edge.calls.CallInterceptors;
import io.troupe.edge.calls.CallMetadata;
import io.troupe.edge.calls.GrpcFrames;
import io.troupe.edge.calls.GrpcMethods;
import io.troupe.edge.calls.Readiness;
import io.troupe.edge.connection.ClientInfo;
import io.troupe.edge.connection.ConnectionState;
import io.troupe.edge.engine.HttpLayer;
import io.troupe.edge.json.JsonPaths;
import io.troupe.edge.json.JsonText;
import io.troupe.grpc.error.GrpcErrors;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.metrics.RpcMetrics.MethodMeter;
import io.troupe.protocol.RefusedException;
import io.troupe.server.Call;
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
 * etcd's methods over HTTP/1.1 and JSON (5.3). Calls pass the same interceptors, meters and
 * services as gRPC calls; only their messages are translated in both directions.
 */
public final class JsonGateway {
  private static final String METADATA = "grpc-metadata-";
  private static final StatusCode CLIENT_CLOSED =
      StatusCodes.custom(499, "Client Closed Request", "", false, true);

  private static final HttpHeader MIRRORED =
      RawHeader.create("Grpc-Metadata-Content-Type", "application/grpc");

  private final GrpcMethods methods;
  private final CallInterceptors interceptors;
  private final Readiness readiness;
  private final Materializer materializer;
  private final JsonUnary calls;
  private final JsonStreams streams;

  public JsonGateway(
      GrpcMethods methods,
      CallInterceptors interceptors,
      Readiness readiness,
      int maxReceiveBytes,
      ActorSystem<?> system,
      JsonUnary.Identity identity) {
    this.methods = methods;
    this.interceptors = interceptors;
    this.readiness = readiness;
    this.materializer = SystemMaterializer.get(system).materializer();
    Executor json =
        system.dispatchers().lookup(DispatcherSelector.fromConfig("troupe-dispatchers.json"));
    this.calls = new JsonUnary(maxReceiveBytes, system, json, identity);
    this.streams = new JsonStreams(interceptors, maxReceiveBytes, system, json);
  }

  /**
   * Handles a request; never fails.
   *
   * @param path below /v3/
   */
  public CompletionStage<HttpResponse> handle(
      HttpRequest request, String path, ClientInfo clientInfo) {
    WebSocketUpgrade upgrade = request.getAttribute(AttributeKeys.webSocketUpgrade).orElse(null);
    if (upgrade != null) {
      return CompletableFuture.completedFuture(
          new JsonWebSocket(this, materializer).accept(request, path, upgrade, clientInfo));
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
      return ready(request, grpcPath, method, clientInfo);
    }
    return readiness
        .await()
        .handle(
            (ready, failure) ->
                failure == null
                    ? ready(request, grpcPath, method, clientInfo)
                    : refuse(request, GrpcErrors.of(failure)))
        .thenCompose(response -> response);
  }

  private CompletionStage<HttpResponse> refuse(HttpRequest request, GrpcStatus status) {
    request.discardEntityBytes(materializer);
    return CompletableFuture.completedFuture(error(status));
  }

  private CompletionStage<HttpResponse> ready(
      HttpRequest request, String path, MethodDescriptor method, ClientInfo clientInfo) {
    GrpcMethods.Streaming streaming = methods.streaming(path);
    GrpcMethods.Unary unary =
        streaming != null && !method.isServerStreaming()
            ? asUnary(streaming, method, clientInfo.connection(), HttpLayer.stream(request))
            : methods.unary(path);
    Call call;
    try {
      List<HttpHeader> metadata = metadata(request);
      // A14: a certificate is not a login here.
      call =
          interceptors.admit(
              path, unary == null, metadata, clientInfo.withoutLogin(), HttpLayer.stream(request));
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
          request, new JsonUnary.Running(unary, method, meter, call, clientInfo.connection()));
    }
    if (streaming != null) {
      return streams.handle(
          request,
          path,
          new JsonStreams.Method(
              streaming, method, meter, clientInfo.connection(), HttpLayer.stream(request)),
          call);
    }
    throw new IllegalStateException("method declared but not registered: " + path);
  }

  /**
   * Serves a waiting call as a stream with one response. The call is cancelled when its client
   * cancels the request; the HTTP layer does not report that, because there is no response yet.
   */
  private GrpcMethods.Unary asUnary(
      GrpcMethods.Streaming streaming,
      MethodDescriptor method,
      ConnectionState connection,
      int stream) {
    return (request, call) -> {
      Pair<UniqueKillSwitch, CompletionStage<ByteString>> running =
          streaming
              .call(Source.single(request), call)
              .viaMat(KillSwitches.single(), Keep.right())
              .toMat(Sink.head(), Keep.both())
              .run(materializer);
      Runnable gone = () -> running.first().abort(canceled());
      connection.whenGone(stream, gone);
      return running
          .second()
          .whenComplete((frame, failure) -> connection.forget(stream, gone))
          .thenApply(frame -> message(frame, method));
    };
  }

  private static DynamicMessage message(ByteString frame, MethodDescriptor method) {
    try {
      return DynamicMessage.parseFrom(
          method.getOutputType(), frame.drop(GrpcFrames.HEADER).toArray());
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("cannot decode a message that was just encoded", e);
    }
  }

  /** J7, J8: headers by their gRPC names, without those of HTTP itself. */
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

  /** The error of a call whose deadline has expired. */
  static GrpcException deadlineExceeded() {
    return new GrpcException(GrpcStatus.DEADLINE_EXCEEDED, "context deadline exceeded");
  }

  /** The error of a call that its client has cancelled. */
  static GrpcException canceled() {
    return new GrpcException(GrpcStatus.CANCELED, "context canceled");
  }

  /** Starts a response that is not an error. */
  static HttpResponse mirrored() {
    return HttpResponse.create().addHeader(MIRRORED);
  }

  /** Builds an error response (J5). */
  static HttpResponse error(GrpcStatus status) {
    return HttpResponse.create()
        .withStatus(httpStatus(status.code()))
        .withEntity(ContentTypes.APPLICATION_JSON, JsonText.of(status));
  }

  /** Starts a response that is a stream of lines. */
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
