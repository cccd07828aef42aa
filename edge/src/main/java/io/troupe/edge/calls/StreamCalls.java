package io.troupe.edge.calls;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import io.troupe.grpc.api.LeaseKeepAliveRequest;
import io.troupe.grpc.api.RangeStreamResponse;
import io.troupe.grpc.api.SnapshotRequest;
import io.troupe.grpc.api.SnapshotResponse;
import io.troupe.grpc.api.WatchRequest;
import io.troupe.grpc.api.election.CampaignRequest;
import io.troupe.grpc.api.election.LeaderRequest;
import io.troupe.grpc.api.health.HealthCheckRequest;
import io.troupe.grpc.api.health.HealthCheckResponse;
import io.troupe.grpc.api.lock.LockRequest;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.Bytes;
import io.troupe.server.Call;
import io.troupe.server.CancellableCall;
import io.troupe.server.ElectionObserver;
import io.troupe.server.EtcdServices;
import io.troupe.server.RangeStreamCursor;
import io.troupe.server.SnapshotSession;
import io.troupe.server.WatchSession;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.Done;
import org.apache.pekko.NotUsed;
import org.apache.pekko.japi.Pair;
import org.apache.pekko.stream.BackpressureTimeoutException;
import org.apache.pekko.stream.KillSwitches;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.OverflowStrategy;
import org.apache.pekko.stream.SharedKillSwitch;
import org.apache.pekko.stream.javadsl.Keep;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/** The streaming calls. Each pulls from its service only what the client's flow control permits. */
final class StreamCalls {
  /** Concurrent renewals of one stream; responses keep the order of requests (L5). */
  private static final int KEEP_ALIVES_AT_ONCE = 64;

  private final EtcdServices services;
  private final Materializer materializer;
  private final WatchFrames watchFrames;

  StreamCalls(EtcdServices services, Materializer materializer) {
    this.services = services;
    this.materializer = materializer;
    this.watchFrames = new WatchFrames(services.member()::header);
  }

  /**
   * The request of a call that has exactly one, once the client has closed its side. grpc-go, which
   * etcd 3.7 uses, also waits for that (RecvMsg of a stream without ClientStreams), so no client
   * continues to send while it receives responses.
   */
  private static Source<Bytes, NotUsed> only(Source<Bytes, NotUsed> requests, Call call) {
    return RequestBodyTimeout.limited(requests, RequestBodyTimeout.LIMIT)
        .fold(new OnlyRequest(call.memory()), OnlyRequest::add)
        .map(OnlyRequest::take);
  }

  /** L5. Completes when the client closes its side. */
  Source<ByteString, NotUsed> keepAlive(Source<Bytes, NotUsed> requests, Call call) {
    return requests
        .map(bytes -> LeaseKeepAliveRequest.parseFrom(bytes.toArrayUnsafe()))
        .mapAsync(KEEP_ALIVES_AT_ONCE, request -> services.lease().keepAlive(request, call))
        .map(GrpcFrames::frame);
  }

  /** 2.4. */
  Source<ByteString, NotUsed> rangeStream(Source<Bytes, NotUsed> requests, Call call) {
    return only(requests, call)
        .mapAsync(1, request -> services.kv().rangeStream(request, call))
        .flatMapConcat(
            first ->
                Source.unfoldAsync(
                    Optional.of(first),
                    cursor ->
                        cursor.isEmpty()
                            ? end(first)
                            : cursor.get().next().thenApply(StreamCalls::step)))
        .map(GrpcFrames::frame);
  }

  private static CompletionStage<Optional<Pair<Optional<RangeStreamCursor>, RangeStreamResponse>>>
      end(RangeStreamCursor stream) {
    stream.end();
    return CompletableFuture.completedFuture(Optional.empty());
  }

  private static Optional<Pair<Optional<RangeStreamCursor>, RangeStreamResponse>> step(
      RangeStreamCursor.Chunk chunk) {
    return Optional.of(Pair.create(chunk.rest(), chunk.response()));
  }

  /**
   * A client that takes no part of a snapshot for so long loses its stream: it holds disk space.
   */
  private static final Duration SNAPSHOT_PAUSE = Duration.ofMinutes(10);

  /** MT8. */
  Source<ByteString, NotUsed> snapshot(Source<Bytes, NotUsed> requests, Call call) {
    return only(requests, call)
        .map(bytes -> SnapshotRequest.parseFrom(bytes.toArrayUnsafe()))
        .flatMapConcat(request -> snapshot(call))
        .mapConcat(part -> part)
        .map(GrpcFrames::frame);
  }

  private Source<List<SnapshotResponse>, NotUsed> snapshot(Call call) {
    return PulledResponses.source(
            () -> services.maintenance().snapshot(call),
            SnapshotSession::next,
            SnapshotSession::close)
        .backpressureTimeout(SNAPSHOT_PAUSE)
        .mapError(
            BackpressureTimeoutException.class,
            paused ->
                new GrpcException(
                    GrpcStatus.UNAVAILABLE,
                    "the client received no part of the snapshot for " + SNAPSHOT_PAUSE));
  }

  /** Health changes that a client has not received yet; above this number the newest are kept. */
  private static final int HEALTH_CHANGES = 16;

  /** The health service's Watch: the status now and each time it changes. */
  Source<ByteString, NotUsed> healthWatch(Source<Bytes, NotUsed> requests, Call call) {
    return only(requests, call)
        .map(bytes -> HealthCheckRequest.parseFrom(bytes.toArrayUnsafe()))
        .flatMapConcat(this::health)
        .map(GrpcFrames::frame);
  }

  private Source<HealthCheckResponse, NotUsed> health(HealthCheckRequest request) {
    return Source.<HealthCheckResponse>queue(HEALTH_CHANGES, OverflowStrategy.dropHead())
        .mapMaterializedValue(
            queue -> {
              Runnable end = services.health().watch(request, queue::offer);
              queue.watchCompletion().whenComplete((done, failure) -> end.run());
              return NotUsed.getInstance();
            });
  }

  /** E1. */
  Source<ByteString, NotUsed> campaign(Source<Bytes, NotUsed> requests, Call call) {
    return waiting(
        requests,
        call,
        bytes ->
            services.election().campaign(CampaignRequest.parseFrom(bytes.toArrayUnsafe()), call));
  }

  /** LK1. */
  Source<ByteString, NotUsed> lock(Source<Bytes, NotUsed> requests, Call call) {
    return waiting(
        requests,
        call,
        bytes -> services.lock().lock(LockRequest.parseFrom(bytes.toArrayUnsafe()), call));
  }

  /** Starts a call that waits. */
  private interface Beginning<T> {
    CancellableCall<T> begin(Bytes request) throws InvalidProtocolBufferException;
  }

  /** One request, and one response when it is available; a disconnected client cancels the call. */
  private static <T extends MessageLite> Source<ByteString, NotUsed> waiting(
      Source<Bytes, NotUsed> requests, Call call, Beginning<T> beginning) {
    return only(requests, call)
        .map(beginning::begin)
        .flatMapConcat(
            waiting ->
                Source.completionStage(waiting.outcome())
                    .watchTermination(
                        (mat, ended) -> {
                          ended.whenComplete((done, failure) -> waiting.cancel());
                          return mat;
                        }))
        .map(GrpcFrames::frame);
  }

  /** E6. */
  Source<ByteString, NotUsed> observe(Source<Bytes, NotUsed> requests, Call call) {
    return only(requests, call)
        .map(bytes -> LeaderRequest.parseFrom(bytes.toArrayUnsafe()))
        .flatMapConcat(
            request ->
                PulledResponses.source(
                    () ->
                        CompletableFuture.completedFuture(
                            services.election().observe(request, call)),
                    ElectionObserver::next,
                    ElectionObserver::close))
        .map(GrpcFrames::frame);
  }

  /** 2.9. A half-close of the client leaves the stream open (W19). */
  Source<ByteString, NotUsed> watch(Source<Bytes, NotUsed> requests, Call call) {
    SharedKillSwitch clientFault = KillSwitches.shared("watch-requests");
    return PulledResponses.source(
            () -> services.watch(call).thenApply(session -> start(session, requests, clientFault)),
            session -> session.next().thenApply(Optional::of),
            session -> {
              session.close();
              clientFault.shutdown();
            })
        .flatMapConcat(replies -> watchFrames.source(replies, call.memory()))
        .via(clientFault.flow());
  }

  /**
   * Passes the client's requests to the session, one at a time. A malformed request fails the whole
   * stream with its status.
   */
  private WatchSession start(
      WatchSession session, Source<Bytes, NotUsed> requests, SharedKillSwitch clientFault) {
    requests
        .mapAsync(1, bytes -> take(session, bytes))
        .toMat(Sink.ignore(), Keep.right())
        .run(materializer)
        .whenComplete(
            (done, failure) -> {
              if (failure != null) {
                clientFault.abort(failure);
              }
            });
    return session;
  }

  private static CompletionStage<Done> take(WatchSession session, Bytes bytes) {
    try {
      return session.request(WatchRequest.parseFrom(bytes.toArrayUnsafe()));
    } catch (InvalidProtocolBufferException undecodable) {
      throw new CompletionException(undecodable);
    }
  }
}
