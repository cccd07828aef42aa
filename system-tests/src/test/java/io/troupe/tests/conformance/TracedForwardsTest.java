package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.Config;
import io.grpc.Metadata;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.StatusRequest;
import io.troupe.grpc.api.StatusResponse;
import io.troupe.node.RunningNode;
import io.troupe.node.TestConfig;
import io.troupe.node.tracing.TestCollector;
import io.troupe.node.tracing.TestCollector.Span;
import io.troupe.testing.FreePort;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two members in this process export their spans of one call to one collector. */
class TracedForwardsTest {
  private static final String CALLER = "b7ad6b7169203331";
  private static final long SLACK_NANOS = 100_000_000;
  private static final String PUT = "etcdserverpb.KV/Put";
  private static final String FORWARDED = "forwarded proposal";
  private static final Metadata.Key<String> TRACEPARENT =
      Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER);

  private final int[] peers = {FreePort.next(), FreePort.next()};
  private final TestCollector collector = TestCollector.start();
  private final ExecutorService starting = Executors.newFixedThreadPool(2);
  private final RunningNode[] nodes = new RunningNode[2];
  private final ApiClient[] clients = new ApiClient[2];
  private int leader;

  private static String url(int port) {
    return "http://127.0.0.1:" + port;
  }

  private RunningNode start(Path directory, int number) {
    Map<String, Object> settings = new HashMap<>();
    settings.put("name", "n" + number);
    settings.put("data-dir", directory.resolve("n" + number).toString());
    settings.put("listen-client-urls", url(0));
    settings.put("listen-peer-urls", url(peers[number]));
    settings.put("initial-advertise-peer-urls", url(peers[number]));
    settings.put("initial-cluster", "n0=" + url(peers[0]) + ",n1=" + url(peers[1]));
    settings.put("tracing.enabled", true);
    settings.put("tracing.address", collector.address());
    settings.put("tracing.instance-id", "n" + number);
    settings.put("tracing.sampling-rate", 0);
    Map<String, Object> full = new HashMap<>();
    settings.forEach((key, value) -> full.put("troupe." + key, value));
    Config config = TestConfig.of(full);
    return RunningNode.start(config, failure -> {});
  }

  @BeforeEach
  void start(@TempDir Path directory) throws Exception {
    CompletableFuture<RunningNode> second =
        CompletableFuture.supplyAsync(() -> start(directory, 1), starting);
    nodes[0] = start(directory, 0);
    nodes[1] = second.get(60, TimeUnit.SECONDS);
    for (int i = 0; i < 2; i++) {
      nodes[i].awaitReady();
      clients[i] = new ApiClient("127.0.0.1:" + nodes[i].clientPorts().get(0));
      StatusResponse status = clients[i].call(Api.STATUS, StatusRequest.getDefaultInstance());
      leader = status.getLeader() == status.getHeader().getMemberId() ? i : leader;
    }
  }

  @AfterEach
  void stop() {
    for (int i = 0; i < 2; i++) {
      if (clients[i] != null) {
        clients[i].close();
      }
      if (nodes[i] != null) {
        nodes[i].close();
      }
    }
    starting.shutdown();
    collector.close();
  }

  private static String newTrace() {
    byte[] id = new byte[16];
    ThreadLocalRandom.current().nextBytes(id);
    id[0] = 1;
    return HexFormat.of().formatHex(id);
  }

  private void put(int member, String trace, boolean sampled) {
    Metadata metadata = new Metadata();
    metadata.put(TRACEPARENT, "00-" + trace + "-" + CALLER + (sampled ? "-01" : "-00"));
    PutRequest put = Requests.put("k", trace).build();
    clients[member].call(Api.PUT, put, metadata);
  }

  private Span await(String trace, String name) {
    return collector.await(span -> span.traceId().equals(trace) && span.name().equals(name));
  }

  @Test
  void leaderSpanOfForwardedWriteIsChildOfCall() {
    int follower = 1 - leader;
    String trace = newTrace();
    put(follower, trace, true);
    Span call = await(trace, PUT);
    Span part = await(trace, FORWARDED);
    assertThat(call.parentId()).isEqualTo(CALLER);
    assertThat(call.resource()).containsEntry("service.instance.id", "n" + follower);
    assertThat(part.parentId()).isEqualTo(call.spanId());
    assertThat(part.resource()).containsEntry("service.instance.id", "n" + leader);
    assertThat(part.kind()).isEqualTo(2);
    // The members share a machine, but each span has its own wall clock reading.
    assertThat(part.startNanos()).isGreaterThan(call.startNanos() - SLACK_NANOS);
    assertThat(part.endNanos()).isBetween(part.startNanos(), call.endNanos() + SLACK_NANOS);
    ServedStore.await().until(() -> collector.below(part).size() >= 3);
    List<Span> steps = collector.below(part);
    assertThat(steps)
        .extracting(Span::name)
        .containsExactlyInAnyOrder("propose", "fsync", "quorum");
    assertThat(steps)
        .allSatisfy(
            step -> {
              assertThat(step.resource()).containsEntry("service.instance.id", "n" + leader);
              assertThat(step.startNanos()).isGreaterThanOrEqualTo(part.startNanos());
              assertThat(step.endNanos()).isLessThanOrEqualTo(part.endNanos());
            });
    // The own steps of the follower exist as usual.
    assertThat(collector.below(call))
        .extracting(Span::name)
        .contains("queue", "quorum", "apply", "answer", FORWARDED);
  }

  /** Many concurrent writes: a message to the leader may hold several, some of them sampled. */
  @Test
  void onlySampledCallsAreExported() throws Exception {
    int follower = 1 - leader;
    String sampled = newTrace();
    String other = newTrace();
    String own = newTrace();
    ExecutorService writers = Executors.newFixedThreadPool(20);
    try {
      CompletableFuture<?>[] writes = new CompletableFuture<?>[40];
      for (int i = 0; i < writes.length; i++) {
        boolean wanted = i % 4 == 0;
        writes[i] =
            CompletableFuture.runAsync(
                () -> put(follower, wanted ? sampled : other, wanted), writers);
      }
      CompletableFuture.allOf(writes).get(60, TimeUnit.SECONDS);
    } finally {
      writers.shutdown();
    }
    put(leader, own, true);
    await(own, PUT);
    ServedStore.await().until(() -> parts(sampled) == 10);
    // All spans have arrived: a member sends its spans in order.
    assertThat(parts(sampled)).isEqualTo(10);
    assertThat(parts(own)).as("a leader's own write").isZero();
    assertThat(collector.spans()).noneMatch(span -> span.traceId().equals(other));
  }

  private long parts(String trace) {
    return collector.spans().stream()
        .filter(span -> span.traceId().equals(trace) && span.name().equals(FORWARDED))
        .count();
  }
}
