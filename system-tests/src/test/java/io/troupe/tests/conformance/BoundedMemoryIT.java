package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.Requests.get;
import static io.troupe.tests.conformance.Requests.op;
import static io.troupe.tests.conformance.Requests.put;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.troupe.grpc.api.Compare.CompareResult;
import io.troupe.grpc.api.Compare.CompareTarget;
import io.troupe.grpc.api.SnapshotRequest;
import io.troupe.grpc.api.SnapshotResponse;
import io.troupe.grpc.api.TxnRequest;
import io.troupe.testing.FreePort;
import io.troupe.tests.process.Alone;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.OwnHeap;
import io.troupe.tests.process.TestArchive;
import io.troupe.tests.process.TestJdks;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Each request that the configuration accepts is written, replicated, read and applied within the
 * heap. Members start as bin/node starts them, with the default heap (empty) and with 256 MiB.
 */
@Alone
@Tag("full")
@OwnHeap
class BoundedMemoryIT {
  private static final int MEBIBYTE = 1 << 20;

  @TempDir Path directory = Path.of("");

  private final List<NodeProcess.Builder> members = new ArrayList<>();
  private final List<NodeProcess> running = new ArrayList<>();
  private final List<Integer> ports = new ArrayList<>();

  @AfterEach
  void end() {
    running.forEach(NodeProcess::close);
  }

  private void prepare(int count, String heap, String... settings) {
    List<String> urls =
        IntStream.range(0, count).mapToObj(i -> "http://127.0.0.1:" + FreePort.next()).toList();
    String cluster =
        IntStream.range(0, count)
            .mapToObj(i -> "m" + i + "=" + urls.get(i))
            .collect(Collectors.joining(","));
    for (int i = 0; i < count; i++) {
      ports.add(FreePort.next());
      members.add(
          NodeProcess.program(directory.resolve("m" + i), NodeProcess.script("node").toString())
              .named("m" + i)
              .environment("JAVA_HOME", TestJdks.running().home().toString())
              .environment("TROUPE_JAR", NodeProcess.nodeJar().toString())
              .environment("TROUPE_HEAP", heap)
              .environment("TROUPE_CACHE", TestArchive.directory(TestJdks.running()))
              .setting("name", "m" + i)
              .setting("data-dir", directory.resolve("m" + i + "/data").toString())
              .setting("listen-client-urls", "http://127.0.0.1:" + ports.get(i))
              .setting("listen-peer-urls", urls.get(i))
              .setting("initial-advertise-peer-urls", urls.get(i))
              .setting("initial-cluster", cluster)
              .args(settings));
    }
  }

  private void startAll() {
    running.clear();
    members.forEach(member -> running.add(member.start()));
    running.forEach(NodeProcess::awaitReady);
  }

  private ApiClient client(int member) {
    return new ApiClient("127.0.0.1:" + ports.get(member));
  }

  /**
   * Repeats the put if a busy machine takes longer than the request timeout: the value is the same.
   */
  private static void putFilled(ApiClient client, String key, int bytes) {
    Awaitility.await(key)
        .atMost(Duration.ofSeconds(90))
        .pollInterval(Duration.ofMillis(200))
        .ignoreExceptionsMatching(BoundedMemoryIT::isLate)
        .until(() -> client.put(put(key, "").setValue(Requests.filled(bytes))).hasHeader());
  }

  private static boolean isLate(Throwable failure) {
    return failure instanceof StatusRuntimeException refused
        && (refused.getStatus().getCode() == Status.Code.DEADLINE_EXCEEDED
            || String.valueOf(refused.getStatus().getDescription()).contains("timed out"));
  }

  /** The local state of that member, read without a query to its peers. */
  private void awaitHeld(int member, String key, int bytes) {
    try (ApiClient client = client(member)) {
      Awaitility.await(key + " on m" + member)
          .atMost(Duration.ofSeconds(60))
          .pollInterval(Duration.ofMillis(200))
          .ignoreExceptions()
          .until(
              () -> {
                var found = client.range(get(key).setSerializable(true)).getKvsList();
                return found.size() == 1 && found.get(0).getValue().size() == bytes;
              });
    }
  }

  private void allRun() {
    for (NodeProcess member : running) {
      assertThat(member.isAlive()).as("%s", member).isTrue();
      assertThat(member.err()).doesNotContain(" ERROR ");
    }
  }

  /** Largest request allowed and largest value put, in MiB. */
  @ParameterizedTest
  @CsvSource({"'', 32, 31", "256m, 16, 15"})
  void largestRequestsReachAllMembersAndSurviveRestart(String heap, int allowed, int largest) {
    prepare(3, heap, "-Dtroupe.max-request-bytes=" + allowed * MEBIBYTE);
    startAll();
    int[] sizes = {1, largest / 2 + 2, largest};
    for (int member = 0; member < 3; member++) {
      try (ApiClient client = client(member)) {
        for (int size : sizes) {
          putFilled(client, "from-" + member + "-" + size, size * MEBIBYTE);
        }
      }
    }
    allRun();
    // One member lags, and catches up from the logs of its peers.
    running.get(2).kill();
    try (ApiClient client = client(0)) {
      for (int i = 0; i < 6; i++) {
        putFilled(client, "missed-" + i, largest * MEBIBYTE);
      }
    }
    running.set(2, running.get(2).restart());
    running.get(2).awaitReady();
    for (int i = 0; i < 6; i++) {
      awaitHeld(2, "missed-" + i, largest * MEBIBYTE);
    }
    allRun();
    // All members restart with their data.
    running.forEach(NodeProcess::kill);
    startAll();
    for (int member = 0; member < 3; member++) {
      for (int size : sizes) {
        awaitHeld(member, "from-1-" + size, size * MEBIBYTE);
      }
    }
    allRun();
  }

  @Test
  void requestLimitAboveHeapIsRefusedAtStart() {
    prepare(1, "256m", "-Dtroupe.max-request-bytes=32MiB");
    NodeProcess member = members.get(0).start();
    running.add(member);
    assertThat(member.awaitExit()).as("%s", member).isEqualTo(2);
    assertThat(member.err()).contains("troupe.max-request-bytes", "33554432", "at most");
  }

  /**
   * 650 MB that change no key: the state never persists them, so the applied index lags at the
   * kill.
   */
  @ParameterizedTest
  @ValueSource(strings = {"", "256m"})
  void replayAfterKillNeedsNoMoreMemoryForMoreEntries(String heap) {
    prepare(1, "", "-Dtroupe.max-request-bytes=2MiB");
    startAll();
    TxnRequest txn =
        TxnRequest.newBuilder()
            .addCompare(
                Requests.compare("none", CompareTarget.VERSION, CompareResult.EQUAL).setVersion(7))
            .addSuccess(op(put("never", "").setValue(Requests.filled(1_300_000))))
            .build();
    try (ApiClient client = client(0)) {
      client.put("before", "1");
      for (int i = 0; i < 500; i++) {
        assertThat(client.txn(txn.toBuilder()).getSucceeded()).isFalse();
      }
      client.put("after", "2");
    }
    running.get(0).kill();
    members.get(0).environment("TROUPE_HEAP", heap);
    startAll();
    assertThat(running.get(0).err()).contains("applied committed entries of the log");
    try (ApiClient client = client(0)) {
      assertThat(client.record("before").getValue().toStringUtf8()).isEqualTo("1");
      assertThat(client.record("after").getValue().toStringUtf8()).isEqualTo("2");
      assertThat(client.get("never").getKvsList()).isEmpty();
    }
    allRun();
  }

  /**
   * Clients save a state of the largest values, two at once. A stream that does not fit into the
   * memory of clients is refused.
   */
  @Test
  void snapshotsOfLargestValuesFitIntoTheHeap() throws Exception {
    int bytes = 19 * MEBIBYTE;
    prepare(1, "256m", "-Dtroupe.max-request-bytes=" + bytes);
    startAll();
    int values = 8;
    try (ApiClient client = client(0)) {
      for (int i = 0; i < values; i++) {
        putFilled(client, "large-" + i, bytes - 1000);
      }
    }
    for (int round = 0; round < 3; round++) {
      CompletableFuture<Status> first = saved((long) values * bytes);
      CompletableFuture<Status> second = saved((long) values * bytes);
      List<Status> outcomes =
          List.of(first.get(120, TimeUnit.SECONDS), second.get(120, TimeUnit.SECONDS));
      assertThat(outcomes).contains(Status.OK);
      assertThat(outcomes)
          .allMatch(
              end -> end.isOk() || "etcdserver: too many requests".equals(end.getDescription()));
      allRun();
    }
    try (ApiClient client = client(0)) {
      client.put("after", "1");
    }
  }

  /** Receives a snapshot and checks its size. */
  private CompletableFuture<Status> saved(long least) {
    return CompletableFuture.supplyAsync(
        () -> {
          try (ApiClient client = client(0)) {
            long bytes = 0;
            Iterator<SnapshotResponse> parts =
                ClientCalls.blockingServerStreamingCall(
                    client.channel(),
                    Api.SNAPSHOT,
                    CallOptions.DEFAULT,
                    SnapshotRequest.getDefaultInstance());
            while (parts.hasNext()) {
              bytes += parts.next().getBlob().size();
            }
            assertThat(bytes).isGreaterThan(least - MEBIBYTE);
            return Status.OK;
          } catch (StatusRuntimeException refused) {
            return refused.getStatus();
          }
        });
  }
}
