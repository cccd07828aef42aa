package io.troupe.edge.calls;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.edge.connection.ClientInfo;
import io.troupe.edge.connection.ConnectionState;
import io.troupe.grpc.api.PutResponse;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.metrics.MemberMetrics;
import io.troupe.metrics.WalSyncs;
import io.troupe.model.MemoryBudget;
import io.troupe.model.NodeId;
import io.troupe.protocol.ForwardedTraces;
import io.troupe.server.CallTrace;
import io.troupe.server.FakeStatus;
import io.troupe.server.RecordingTrace;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpEntity;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.japi.Pair;
import org.apache.pekko.stream.BoundedSourceQueue;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.SystemMaterializer;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.SinkQueueWithCancel;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** {@code hasleader} (T5, W19), and other metadata that decides whether a call starts. */
class RequireLeaderInterceptorTest {
  private static final ActorSystem SYSTEM = ActorSystem.create("leader-watch");
  private static final Materializer MATERIALIZER = SystemMaterializer.get(SYSTEM).materializer();
  private static final MemberMetrics METRICS = new MemberMetrics();
  private static final HttpHeader HAS_LEADER = RawHeader.create("hasleader", "true");
  private static final Map<String, String> NO_LEADER =
      Map.of("grpc-status", "14", "grpc-message", "etcdserver: no leader");

  private static final Map<String, String> CORRUPT =
      Map.of("grpc-status", "15", "grpc-message", "etcdserver: corrupt cluster");

  private volatile boolean learner;
  private final FakeStatus status = new FakeStatus(new NodeId(7));

  private final RequireLeaderInterceptor leader = new RequireLeaderInterceptor(status);
  private final CorruptionInterceptor corrupt = new CorruptionInterceptor(status);
  private final Pair<BoundedSourceQueue<ByteString>, Source<ByteString, NotUsed>> answers =
      Source.<ByteString>queue(16).preMaterialize(MATERIALIZER);
  private final List<RecordingTrace> traces = new CopyOnWriteArrayList<>();
  private final Tracing tracing = new TracesOfCalls();
  private final GrpcHandler handler =
      new GrpcHandler(
          new GrpcMethods(METRICS.rpc())
              .unary(
                  "test.T",
                  "Unary",
                  (request, call) ->
                      CompletableFuture.completedFuture(PutResponse.getDefaultInstance()))
              .streaming("test.T", "Stream", (requests, call) -> answers.second())
              .unary(
                  "etcdserverpb.KV",
                  "Put",
                  (request, call) ->
                      CompletableFuture.completedFuture(PutResponse.getDefaultInstance()))
              .streaming("etcdserverpb.Watch", "Watch", (requests, call) -> answers.second()),
          1000,
          new CallInterceptors(
              new LearnerInterceptor(() -> learner), corrupt, leader, METRICS.rpc(), tracing),
          new RequestLog(Duration.ofDays(1), Clock.systemUTC()),
          MATERIALIZER);

  /** The traces of all calls, in their order. */
  private final class TracesOfCalls implements Tracing {
    @Override
    public CallTrace begin(String path, Iterable<HttpHeader> metadata) {
      RecordingTrace trace = new RecordingTrace();
      traces.add(trace);
      return trace;
    }

    @Override
    public ForwardedTraces forwarded(WalSyncs syncs, Executor runs) {
      return ForwardedTraces.NONE;
    }

    @Override
    public CompletionStage<Void> close(Duration atMost) {
      return CompletableFuture.completedFuture(null);
    }
  }

  RequireLeaderInterceptorTest() {
    status.leader = new NodeId(7);
  }

  @AfterAll
  static void stop() {
    SYSTEM.terminate();
  }

  private static <T> T now(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(10, TimeUnit.SECONDS);
  }

  private HttpResponse call(String method, HttpHeader... metadata) throws Exception {
    return callPath("/test.T/" + method, metadata);
  }

  private HttpResponse callPath(String path, HttpHeader... metadata) throws Exception {
    return now(
        handler.handle(
            HttpRequest.POST(path)
                .withHeaders(List.of(metadata))
                .withEntity(
                    HttpEntities.create(
                        MediaTypes.applicationBinary("grpc", false).toContentType(),
                        ByteString.fromArray(new byte[GrpcFrames.HEADER]))),
            ClientInfo.plain(
                "test", new ConnectionState(MemoryBudget.UNLIMITED.holder()), Runnable::run)));
  }

  private static Map<String, String> grpc(Iterable<? extends HttpHeader> headers) {
    return StreamSupport.stream(headers.spliterator(), false)
        .filter(header -> header.lowercaseName().startsWith("grpc-"))
        .collect(Collectors.toMap(HttpHeader::lowercaseName, HttpHeader::value));
  }

  private static SinkQueueWithCancel<HttpEntity.ChunkStreamPart> parts(HttpResponse response) {
    return ((HttpEntity.Chunked) response.entity()).getChunks().runWith(Sink.queue(), MATERIALIZER);
  }

  private void expectAlive(SinkQueueWithCancel<HttpEntity.ChunkStreamPart> parts) throws Exception {
    ByteString message = ByteString.fromString("still there");
    answers.first().offer(message);
    assertThat(now(parts.pull()).map(HttpEntity.ChunkStreamPart::data)).contains(message);
  }

  @Test
  void callsStartWithLeader() throws Exception {
    assertThat(call("Unary", HAS_LEADER).entity()).isInstanceOf(HttpEntity.Strict.class);
    expectAlive(parts(call("Stream", HAS_LEADER)));
  }

  @Test
  void callsRequiringLeaderAreRejectedWithoutLeader() throws Exception {
    status.leader = NodeId.NONE;
    assertThat(grpc(call("Unary", HAS_LEADER).getHeaders())).isEqualTo(NO_LEADER);
    assertThat(grpc(call("Stream", HAS_LEADER).getHeaders())).isEqualTo(NO_LEADER);
  }

  @Test
  void eachCallEndsItsTraceOnce() throws Exception {
    call("Unary");
    SinkQueueWithCancel<HttpEntity.ChunkStreamPart> left = parts(call("Stream"));
    expectAlive(left);
    left.cancel();
    status.leader = NodeId.NONE;
    call("Unary", HAS_LEADER);
    Awaitility.await().until(() -> !traces.get(1).ends().isEmpty());
    assertThat(traces)
        .extracting(RecordingTrace::ends)
        .containsExactly(List.of(0), List.of(GrpcStatus.CANCELED), List.of(GrpcStatus.UNAVAILABLE));
  }

  @Test
  void otherCallsStartWithoutLeader() throws Exception {
    status.leader = NodeId.NONE;
    for (String value : new String[] {"false", "True", "1", ""}) {
      HttpHeader other = RawHeader.create("hasleader", value);
      assertThat(grpc(call("Unary", other).getHeaders())).as(value).isEmpty();
    }
    assertThat(grpc(call("Unary").getHeaders())).isEmpty();
  }

  @Test
  void firstValueOfRepeatedHeaderCounts() throws Exception {
    status.leader = NodeId.NONE;
    HttpHeader no = RawHeader.create("hasleader", "false");
    assertThat(grpc(call("Unary", no, HAS_LEADER).getHeaders())).isEmpty();
    assertThat(grpc(call("Unary", HAS_LEADER, no).getHeaders())).isEqualTo(NO_LEADER);
  }

  @Test
  void threeElectionTimeoutsWithoutLeaderCloseStream() throws Exception {
    SinkQueueWithCancel<HttpEntity.ChunkStreamPart> parts = parts(call("Stream", HAS_LEADER));
    status.leader = NodeId.NONE;
    leader.check();
    leader.check();
    status.leader = new NodeId(8);
    leader.check();
    status.leader = NodeId.NONE;
    leader.check();
    leader.check();
    expectAlive(parts);
    leader.check();
    Optional<HttpEntity.ChunkStreamPart> last = now(parts.pull());
    assertThat(grpc(last.orElseThrow().getTrailerHeaders())).isEqualTo(NO_LEADER);
    assertThat(now(parts.pull())).isEmpty();
  }

  @Test
  void streamStartedAfterNewLeaderContinues() throws Exception {
    status.leader = NodeId.NONE;
    for (int i = 0; i < RequireLeaderInterceptor.CHECKS + 2; i++) {
      leader.check();
    }
    status.leader = new NodeId(8);
    SinkQueueWithCancel<HttpEntity.ChunkStreamPart> parts = parts(call("Stream", HAS_LEADER));
    leader.check();
    expectAlive(parts);
  }

  @Test
  void streamNotRequiringLeaderContinuesWithoutLeader() throws Exception {
    SinkQueueWithCancel<HttpEntity.ChunkStreamPart> parts = parts(call("Stream"));
    status.leader = NodeId.NONE;
    for (int i = 0; i < RequireLeaderInterceptor.CHECKS + 2; i++) {
      leader.check();
    }
    expectAlive(parts);
  }

  @Test
  void learnerRefusesBeforeOtherChecks_LN1() throws Exception {
    learner = true;
    status.leader = NodeId.NONE;
    Map<String, String> refused =
        Map.of("grpc-status", "9", "grpc-message", "etcdserver: rpc not supported for learner");
    assertThat(grpc(call("Unary", HAS_LEADER).getHeaders())).isEqualTo(refused);
    assertThat(grpc(call("Stream").getHeaders())).isEqualTo(refused);
    learner = false;
    assertThat(call("Unary").entity()).isInstanceOf(HttpEntity.Strict.class);
  }

  @Test
  void corruptMemberRejectsAccessToState() throws Exception {
    SinkQueueWithCancel<HttpEntity.ChunkStreamPart> watch =
        parts(callPath("/etcdserverpb.Watch/Watch"));
    corrupt.check();
    expectAlive(watch);
    status.corrupt = true;
    assertThat(grpc(callPath("/etcdserverpb.KV/Put").getHeaders())).isEqualTo(CORRUPT);
    assertThat(grpc(callPath("/etcdserverpb.Watch/Watch").getHeaders())).isEqualTo(CORRUPT);
    assertThat(grpc(call("Unary").getHeaders())).as("what an operator needs").isEmpty();
    corrupt.check();
    Optional<HttpEntity.ChunkStreamPart> last = now(watch.pull());
    assertThat(grpc(last.orElseThrow().getTrailerHeaders())).isEqualTo(CORRUPT);
    status.corrupt = false;
    assertThat(callPath("/etcdserverpb.KV/Put").entity()).isInstanceOf(HttpEntity.Strict.class);
  }

  @Test
  void versionIsCheckedBeforeLeader() throws Exception {
    status.leader = NodeId.NONE;
    HttpHeader broken = RawHeader.create("client-api-version", "\uffff");
    assertThat(grpc(call("Unary", HAS_LEADER, broken).getHeaders()))
        .isEqualTo(
            Map.of("grpc-status", "3", "grpc-message", "etcdserver: invalid client api version"));
  }
}
