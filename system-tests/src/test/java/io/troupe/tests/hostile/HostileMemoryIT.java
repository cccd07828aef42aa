package io.troupe.tests.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.troupe.tests.process.Alone;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.OwnHeap;
import io.troupe.tests.process.TestJdks;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Attacks that make a member hold memory. The member serves other clients meanwhile, and large
 * reads again afterwards. The member has 256 MiB, and for attacks that {@link
 * HostileReportCampaign} makes with 256 MiB the default heap.
 */
@Alone
@Tag("full")
@OwnHeap
class HostileMemoryIT {
  private static final String IN_REPORT = "in-report";
  private static final String RANGE = "/etcdserverpb.KV/Range";
  private static final int MEBIBYTE = 1 << 20;
  private static final String SMALL = "small";
  private static final String LARGE = "large";
  private static final int LARGE_KEYS = 4;

  /** The target is 2 s; a machine that runs other tests at the same time may need longer. */
  private static final int MAX_P99_MS = 10_000;

  @TempDir Path directory = Path.of("");

  private NodeProcess member;
  private WellBehavedClient client;
  private Target target;
  private ManagedChannel channel;

  @BeforeEach
  void start(TestInfo test) {
    String heap = test.getTags().contains(IN_REPORT) ? "512m" : "256m";
    member =
        NodeProcess.member(
                TestJdks.running(), directory, "-Xmx" + heap, "-XX:+ExitOnOutOfMemoryError")
            .start()
            .awaitReady();
    target = Target.plain(member.port());
    client = WellBehavedClient.start(target);
    channel = target.channel();
    put(SMALL, 12_000);
    for (int i = 0; i < LARGE_KEYS; i++) {
      put(LARGE + i, MEBIBYTE);
    }
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    client.close();
    member.close();
  }

  private void put(String key, int bytes) {
    KVGrpc.newBlockingStub(channel)
        .put(
            PutRequest.newBuilder()
                .setKey(ByteString.copyFromUtf8(key))
                .setValue(ByteString.copyFrom(new byte[bytes]))
                .build());
  }

  private static RangeRequest all(String prefix) {
    return RangeRequest.newBuilder()
        .setKey(ByteString.copyFromUtf8(prefix))
        .setRangeEnd(ByteString.copyFromUtf8(prefix + "~"))
        .build();
  }

  /** Other clients are served during an attack, and their large reads again soon after it. */
  private void survives(Attack attack, TestInfo test) throws Exception {
    survives(attack, test, MAX_P99_MS);
  }

  private void survives(Attack attack, TestInfo test, int maxP99Ms) throws Exception {
    client.figures();
    long start = System.nanoTime();
    try (Attack.Held unused = attack.on(target)) {
      Duration sent = Duration.ofNanos(System.nanoTime() - start);
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .pollInterval(Duration.ofMillis(500))
          .until(this::servesLargeReads);
      System.out.printf(
          "%s: sent-in=%s large-reads-after=%s%n",
          test.getDisplayName(), sent, Duration.ofNanos(System.nanoTime() - start));
    }
    WellBehavedClient.Figures figures = client.figures();
    System.out.println(test.getDisplayName() + ": " + figures);
    assertThat(member.isAlive()).as(member.toString()).isTrue();
    assertThat(figures.failures()).isEmpty();
    assertThat(figures.p99Ms()).isLessThan(maxP99Ms);
    assertThat(member.err().lines()).noneMatch(line -> line.contains(" ERROR "));
  }

  private boolean servesLargeReads() {
    try {
      RangeResponse read = KVGrpc.newBlockingStub(channel).range(all(LARGE));
      return read.getKvsCount() == LARGE_KEYS;
    } catch (StatusRuntimeException refused) {
      return false;
    }
  }

  @Test
  @Tag(IN_REPORT)
  void unreadSmallResponses(TestInfo test) throws Exception {
    byte[] request =
        RangeRequest.newBuilder().setKey(ByteString.copyFromUtf8(SMALL)).build().toByteArray();
    survives(new UnreadResponses(8, 4000, RANGE, request), test);
  }

  @Test
  @Tag(IN_REPORT)
  void unreadLargeResponses(TestInfo test) throws Exception {
    Attack attack = new UnreadResponses(4, 1000, RANGE, all(LARGE).toByteArray());
    // The first run also shows how long a fresh JVM takes for 4,000 calls.
    survives(attack, test, 30_000);
    survives(attack, test);
  }

  @Test
  @Tag(IN_REPORT)
  void uploadsThatWithholdLastByte(TestInfo test) throws Exception {
    byte[] put =
        PutRequest.newBuilder()
            .setKey(ByteString.copyFromUtf8("upload"))
            .setValue(ByteString.copyFrom(new byte[MEBIBYTE]))
            .build()
            .toByteArray();
    survives(new IncompleteUploads(4, 256, "/etcdserverpb.KV/Put", put), test);
  }

  @ParameterizedTest
  @EnumSource
  @Tag(IN_REPORT)
  void headersOfStreamsThatSendNothing(HeldHeaders.Fields fields, TestInfo test) throws Exception {
    survives(new HeldHeaders(2, 4000, fields), test);
  }

  @ParameterizedTest
  @ValueSource(ints = {450_000, 60_000})
  @Tag(IN_REPORT)
  void http11HeadersOfRequestsWithoutBody(int headBytes, TestInfo test) throws Exception {
    survives(new HeldHeads(600, headBytes), test);
  }

  @Test
  @Tag(IN_REPORT)
  void unreadJson(TestInfo test) throws Exception {
    survives(new UnreadJson(60, "/v3/kv/range", json(LARGE), ""), test);
  }

  @Test
  @Tag(IN_REPORT)
  void idleConnections(TestInfo test) throws Exception {
    survives(new IdleConnections(6000), test);
    // A new client connects: the member closes idle connections.
    ManagedChannel newcomer = target.channel();
    try {
      assertThat(KVGrpc.newBlockingStub(newcomer).range(all(SMALL)).getKvsCount()).isOne();
    } finally {
      newcomer.shutdownNow();
    }
  }

  private static String json(String prefix) {
    Base64.Encoder base64 = Base64.getEncoder();
    return "{\"key\":\""
        + base64.encodeToString(prefix.getBytes(StandardCharsets.UTF_8))
        + "\",\"range_end\":\""
        + base64.encodeToString((prefix + "~").getBytes(StandardCharsets.UTF_8))
        + "\"}";
  }

  private String answer(String path, String body, String headers) throws IOException {
    try (RawConnection connection =
        UnreadJson.request(target, path, body, headers + "Connection: close\r\n")) {
      return connection.text();
    }
  }

  @Test
  void numbersThatAreExpensiveToParse(TestInfo test) throws Exception {
    client.figures();
    for (String number :
        new String[] {"\"1e100000000\"", "1e100000000", "\"" + "1".repeat(MEBIBYTE) + "\""}) {
      long start = System.nanoTime();
      assertThat(answer("/v3/lease/grant", "{\"TTL\":10,\"ID\":" + number + "}", ""))
          .startsWith("HTTP/1.1 400");
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
    }
    WellBehavedClient.Figures figures = client.figures();
    System.out.println(test.getDisplayName() + ": " + figures);
    assertThat(figures.failures()).isEmpty();
    assertThat(figures.maxMs()).isLessThan(5000);
  }

  @Test
  void deadlinesOfEveryLengthHoldNoMemory() throws Exception {
    for (int round = 0; round < 10; round++) {
      for (char unit : "HMS".toCharArray()) {
        String answer =
            answer("/v3/kv/range", json(LARGE), "Grpc-Timeout: 99999999" + unit + "\r\n");
        assertThat(answer.substring(0, 15)).as("unit %s", unit).isEqualTo("HTTP/1.1 200 OK");
      }
      assertThat(answer("/v3/kv/range", json(LARGE), "Grpc-Timeout: 1n\r\n"))
          .startsWith("HTTP/1.1 504");
    }
    assertThat(servesLargeReads()).isTrue();
    holdsNothing();
  }

  private void holdsNothing() {
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(
            () ->
                assertThat(answer("/metrics", "", "")).contains("troupe_client_memory_bytes 0.0"));
  }

  @Test
  void unreadEvents(TestInfo test) throws Exception {
    survives(new SlowWatches(4, 100, 60, 256 << 10), test);
    // The member never refuses small puts of clients that hold almost no memory.
    survives(new SlowWatches(4, 100, 400, 32 << 10), test);
    client.close();
    holdsNothing();
  }

  /** The log and the caches of the member hold large values already. */
  @Test
  void unreadEventsAfterLargeDeletion(TestInfo test) throws Exception {
    survives(CostlyRequests.largeDeletion("values/", 400, MEBIBYTE), test);
    survives(new SlowWatches(4, 100, 200, 256 << 10), test);
    client.close();
    holdsNothing();
  }

  /** Each stream reads history for itself. */
  @Test
  void unreadEventsOfHistory(TestInfo test) throws Exception {
    survives(CostlyRequests.largeDeletion("keys/", 200_000, 100), test);
    survives(new SlowWatches(4, 100, 2000, 32 << 10), test);
    client.close();
    holdsNothing();
  }

  @Test
  void unreadLargeRevisions(TestInfo test) throws Exception {
    survives(SlowWatches.ofLargeRevisions(4, 100, 40, 120, 10_000), test);
    client.close();
    holdsNothing();
  }
}
