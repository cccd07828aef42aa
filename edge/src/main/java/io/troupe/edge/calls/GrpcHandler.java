package io.troupe.edge.calls;

import com.google.protobuf.MessageLite;
import io.troupe.edge.connection.ClientInfo;
import io.troupe.edge.engine.HttpLayer;
import io.troupe.grpc.error.GrpcErrors;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.metrics.RpcMetrics.MethodMeter;
import io.troupe.model.Bytes;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Refusal;
import io.troupe.protocol.RefusedException;
import io.troupe.server.Call;
import java.io.IOException;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.apache.pekko.NotUsed;
import org.apache.pekko.http.javadsl.model.HttpEntity;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpMethods;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;

/**
 * Turns an HTTP/2 request into a call. A unary request that arrived completely is handled without a
 * stream, which makes it several times cheaper than the generated handler (docs/decisions/0004).
 */
public final class GrpcHandler {
  /** Larger requests are not kept for the log. */
  private static final int MOST_KEPT = 4096;

  /** Smaller responses are sent even if no memory is left. */
  private static final int SMALL = 1024;

  /** Calls without an effect: their responses may be replaced by a refusal. */
  private static final Set<String> READS = Set.of("/etcdserverpb.KV/Range");

  private final GrpcMethods methods;
  private final int maxReceiveBytes;
  private final CallInterceptors interceptors;
  private final RequestLog log;
  private final Materializer materializer;

  public GrpcHandler(
      GrpcMethods methods,
      int maxReceiveBytes,
      CallInterceptors interceptors,
      RequestLog log,
      Materializer materializer) {
    this.methods = methods;
    this.log = log;
    this.interceptors = interceptors;
    this.maxReceiveBytes = maxReceiveBytes;
    this.materializer = materializer;
  }

  /** True if the content type of the request is gRPC. */
  public static boolean isGrpc(HttpRequest request) {
    return request.entity().getContentType().toString().startsWith("application/grpc");
  }

  /** Never fails: every outcome is a response. */
  public CompletionStage<HttpResponse> handle(HttpRequest request, ClientInfo clientInfo) {
    if (!request.method().equals(HttpMethods.POST)) {
      return refuse(request, HttpResponse.create().withStatus(StatusCodes.METHOD_NOT_ALLOWED));
    }
    if (!isGrpc(request)) {
      return refuse(request, HttpResponse.create().withStatus(StatusCodes.UNSUPPORTED_MEDIA_TYPE));
    }
    String path = request.getUri().path();
    GrpcMethods.Unary unary = methods.unary(path);
    GrpcMethods.Streaming streaming = methods.streaming(path);
    if (unary == null && streaming == null) {
      return refuse(
          request,
          GrpcResponses.failure(new GrpcStatus(GrpcStatus.UNIMPLEMENTED, methods.unknown(path))));
    }
    Call call;
    try {
      call =
          interceptors.admit(
              path, unary == null, request.getHeaders(), clientInfo, HttpLayer.stream(request));
    } catch (RefusedException refused) {
      GrpcStatus status = GrpcErrors.of(refused);
      methods.meter(path).refused(status.code());
      return refuse(request, GrpcResponses.failure(status));
    }
    if (unary != null) {
      return unary(
          request,
          new Running(path, unary, methods.meter(path), call, clientInfo, System.nanoTime()));
    }
    return CompletableFuture.completedFuture(
        streaming(request, path, Objects.requireNonNull(streaming), call, clientInfo));
  }

  /** Responds without a call. */
  public CompletionStage<HttpResponse> refuse(HttpRequest request, Throwable failure) {
    return refuse(request, GrpcResponses.failure(GrpcResponses.status(failure)));
  }

  private CompletionStage<HttpResponse> refuse(HttpRequest request, HttpResponse response) {
    request.discardEntityBytes(materializer);
    return CompletableFuture.completedFuture(response);
  }

  /** A unary call from start to end. */
  private final class Running {
    private final String path;
    private final GrpcMethods.Unary method;
    private final MethodMeter meter;
    private final Call call;
    private final ClientInfo clientInfo;
    private final long startNanos;
    private @Nullable Bytes request;
    private int requestSize;

    Running(
        String path,
        GrpcMethods.Unary method,
        MethodMeter meter,
        Call call,
        ClientInfo clientInfo,
        long startNanos) {
      this.path = path;
      this.method = method;
      this.meter = meter;
      this.call = call;
      this.clientInfo = clientInfo;
      this.startNanos = startNanos;
    }

    CompletionStage<? extends MessageLite> received(Bytes message) throws IOException {
      meter.received(message.length());
      requestSize = message.length();
      if (requestSize <= MOST_KEPT) {
        request = message;
      }
      return method.call(message, call);
    }

    HttpResponse done(MessageLite message) {
      ByteString frame = GrpcFrames.frame(message);
      // Counted until the frame inspector sees the end of the response.
      call.memory().shrinkTo(frame.size());
      if (frame.size() > SMALL && READS.contains(path) && clientInfo.memory().isExceeded()) {
        return failed(new RefusedException(Refusal.TOO_MANY_REQUESTS));
      }
      int size = frame.size() - GrpcFrames.HEADER;
      meter.sent(1, size);
      ended(GrpcStatus.OK.code(), message, size);
      clientInfo.connection().made(call.memory());
      return GrpcResponses.unary(frame);
    }

    HttpResponse failed(Throwable failure) {
      clientInfo.connection().sent(call.memory());
      call.memory().close();
      GrpcStatus status = GrpcResponses.status(failure);
      ended(status.code(), null, 0);
      return GrpcResponses.failure(status);
    }

    private void ended(int status, @Nullable MessageLite response, int size) {
      long nanos = System.nanoTime() - startNanos;
      meter.ended(status, nanos);
      call.trace().ended(status);
      if (log.wants(nanos)) {
        log.ended(
            new RequestLog.Ended(
                path,
                methods.descriptor(path),
                clientInfo.client(),
                request,
                requestSize,
                response,
                size,
                status),
            nanos);
      }
    }
  }

  private CompletionStage<HttpResponse> unary(HttpRequest request, Running running) {
    running.meter.started();
    if (READS.contains(running.path) && running.clientInfo.memory().isExceeded()) {
      // Checked before the work: otherwise a client that does not read would cause all of it for
      // nothing.
      request.discardEntityBytes(materializer);
      return CompletableFuture.completedFuture(
          running.failed(new RefusedException(Refusal.TOO_MANY_REQUESTS)));
    }
    Supplier<String> encoding = () -> encoding(request);
    if (request.entity() instanceof HttpEntity.Strict strict) {
      return respond(running, strict.getData(), encoding);
    }
    return collect(
            RequestBodyTimeout.limited(
                RequestDrain.body(request, maxReceiveBytes), RequestBodyTimeout.LIMIT),
            running.call.memory())
        .handle(
            (body, failure) ->
                failure == null
                    ? respond(running, body, encoding)
                    : CompletableFuture.completedFuture(running.failed(failure)))
        .thenCompose(stage -> stage);
  }

  /** Collects the whole body. */
  private CompletionStage<ByteString> collect(
      Source<ByteString, Object> data, MemoryBudget.Share memory) {
    Upload upload = new Upload(maxReceiveBytes, memory);
    return data.runWith(Sink.foreach(upload::add), materializer)
        .handle(
            (done, failure) -> {
              ByteString whole = upload.take();
              if (failure != null) {
                throw new CompletionException(failure);
              }
              return whole;
            });
  }

  private CompletionStage<HttpResponse> respond(
      Running running, ByteString body, Supplier<String> encoding) {
    CompletionStage<? extends MessageLite> reply;
    try {
      Bytes message = GrpcFrames.single(body, encoding, maxReceiveBytes);
      reply = running.received(message);
    } catch (IOException | RuntimeException failure) {
      return CompletableFuture.completedFuture(running.failed(failure));
    }
    return reply.handle(
        (message, failure) -> failure == null ? done(running, message) : running.failed(failure));
  }

  /** Releases the share of the memory if building the response fails. */
  private static HttpResponse done(Running running, MessageLite message) {
    try {
      return running.done(message);
    } catch (RuntimeException failure) {
      return running.failed(failure);
    }
  }

  private HttpResponse streaming(
      HttpRequest request,
      String path,
      GrpcMethods.Streaming method,
      Call call,
      ClientInfo clientInfo) {
    MethodMeter meter = methods.meter(path);
    meter.started();
    Source<Bytes, NotUsed> requests =
        RequestDrain.body(request, maxReceiveBytes)
            .mapMaterializedValue(ignored -> NotUsed.getInstance())
            .via(new FrameDecoder(encoding(request), maxReceiveBytes, clientInfo.memory()))
            .map(
                message -> {
                  meter.received(message.length());
                  return message;
                });
    try {
      Source<ByteString, NotUsed> responses =
          interceptors
              .guarded(method.call(requests, call), path, call)
              .via(new MeteredResponses(meter, call::ended));
      clientInfo.connection().made(call.memory());
      return GrpcResponses.streaming(responses);
    } catch (RuntimeException refused) {
      request.discardEntityBytes(materializer);
      GrpcStatus status = GrpcErrors.of(refused);
      meter.ended(status.code(), 0);
      call.ended(status.code());
      call.memory().close();
      return GrpcResponses.failure(status);
    }
  }

  private static String encoding(HttpRequest request) {
    return request.getHeader("grpc-encoding").map(HttpHeader::value).orElse("");
  }
}
