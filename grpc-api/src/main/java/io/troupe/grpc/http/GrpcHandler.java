package io.troupe.grpc.http;

import com.google.protobuf.MessageLite;
import io.troupe.grpc.error.GrpcErrors;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.grpc.service.Call;
import io.troupe.model.Bytes;
import io.troupe.model.MemoryBudget;
import io.troupe.protocol.RefusedException;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
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

/**
 * Turns an HTTP/2 request into a call. A unary request that arrived whole is answered without
 * running a stream: that is what makes it several times cheaper than the generated handler
 * (docs/decisions/0004).
 */
final class GrpcHandler {
  private final GrpcMethods methods;
  private final int maxReceiveBytes;
  private final MemoryBudget memory;
  private final LearnerGate learner;
  private final CorruptGate corrupt;
  private final LeaderWatch leader;
  private final Materializer materializer;

  GrpcHandler(
      GrpcMethods methods,
      int maxReceiveBytes,
      MemoryBudget memory,
      LearnerGate learner,
      CorruptGate corrupt,
      LeaderWatch leader,
      Materializer materializer) {
    this.methods = methods;
    this.learner = learner;
    this.corrupt = corrupt;
    this.leader = leader;
    this.memory = memory;
    this.maxReceiveBytes = maxReceiveBytes;
    this.materializer = materializer;
  }

  /** True when the request says that it is gRPC. */
  static boolean isGrpc(HttpRequest request) {
    return request.entity().getContentType().toString().startsWith("application/grpc");
  }

  /** Never fails: every outcome is a response. */
  CompletionStage<HttpResponse> handle(HttpRequest request) {
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
      learner.require(path);
      corrupt.require(path);
      call = CallMetadata.of(request, memory.share());
      leader.require(call);
    } catch (RefusedException refused) {
      return refuse(request, GrpcResponses.failure(GrpcErrors.of(refused)));
    }
    if (unary != null) {
      return unary(request, unary, call);
    }
    return CompletableFuture.completedFuture(
        streaming(request, path, Objects.requireNonNull(streaming), call));
  }

  /** Answers without a call. */
  CompletionStage<HttpResponse> refuse(HttpRequest request, Throwable failure) {
    return refuse(request, GrpcResponses.failure(GrpcResponses.status(failure)));
  }

  private CompletionStage<HttpResponse> refuse(HttpRequest request, HttpResponse response) {
    request.discardEntityBytes(materializer);
    return CompletableFuture.completedFuture(response);
  }

  private CompletionStage<HttpResponse> unary(
      HttpRequest request, GrpcMethods.Unary method, Call call) {
    String encoding = encoding(request);
    if (request.entity() instanceof HttpEntity.Strict strict) {
      return answer(method, strict.getData(), encoding, call);
    }
    return collect(request.entity().getDataBytes().via(new RequestDrain(maxReceiveBytes)))
        .handle(
            (body, failure) ->
                failure == null
                    ? answer(method, body, encoding, call)
                    : CompletableFuture.completedFuture(
                        GrpcResponses.failure(GrpcResponses.status(failure))))
        .thenCompose(stage -> stage);
  }

  /**
   * The whole body; fails as soon as the announced message or what came of it is above the limit.
   */
  private CompletionStage<ByteString> collect(Source<ByteString, Object> data) {
    return data.runWith(
        Sink.fold(
            ByteString.emptyByteString(),
            (sofar, chunk) -> {
              ByteString joined = sofar.concat(chunk);
              if (sofar.size() < GrpcFrames.HEADER && joined.size() >= GrpcFrames.HEADER) {
                byte[] header = joined.take(GrpcFrames.HEADER).toArray();
                GrpcFrames.checkSize(GrpcFrames.length(header, 0), maxReceiveBytes);
              }
              GrpcFrames.checkSize((long) joined.size() - GrpcFrames.HEADER, maxReceiveBytes);
              return joined;
            }),
        materializer);
  }

  private CompletionStage<HttpResponse> answer(
      GrpcMethods.Unary method, ByteString body, String encoding, Call call) {
    CompletionStage<? extends MessageLite> reply;
    try {
      Bytes message = GrpcFrames.single(body, encoding, maxReceiveBytes);
      reply = method.call(message, call);
    } catch (IOException | RuntimeException failure) {
      return CompletableFuture.completedFuture(failed(failure, call));
    }
    return reply.handle(
        (message, failure) ->
            failure == null
                ? GrpcResponses.unary(GrpcFrames.frame(message), call.memory())
                : failed(failure, call));
  }

  private static HttpResponse failed(Throwable failure, Call call) {
    call.memory().close();
    return GrpcResponses.failure(GrpcResponses.status(failure));
  }

  private HttpResponse streaming(
      HttpRequest request, String path, GrpcMethods.Streaming method, Call call) {
    Source<Bytes, NotUsed> requests =
        request
            .entity()
            .getDataBytes()
            .mapMaterializedValue(ignored -> NotUsed.getInstance())
            .via(new RequestDrain(maxReceiveBytes))
            .via(new FrameDecoder(encoding(request), maxReceiveBytes));
    try {
      Source<ByteString, NotUsed> answers =
          method
              .call(requests, call)
              .watchTermination(
                  (mat, ended) -> {
                    ended.whenComplete((done, failure) -> call.memory().close());
                    return mat;
                  });
      return GrpcResponses.streaming(corrupt.guarded(leader.guarded(answers, call), path));
    } catch (GrpcException | CompletionException refused) {
      request.discardEntityBytes(materializer);
      return GrpcResponses.failure(GrpcErrors.of(refused));
    }
  }

  private static String encoding(HttpRequest request) {
    return request.getHeader("grpc-encoding").map(HttpHeader::value).orElse("");
  }
}
