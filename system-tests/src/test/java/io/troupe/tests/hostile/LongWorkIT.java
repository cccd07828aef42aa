package io.troupe.tests.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.DefragmentRequest;
import io.etcd.jetcd.api.HashKVRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.troupe.tests.process.Alone;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.OwnHeap;
import io.troupe.tests.process.TestJdks;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Two hashes of the content and a defragmentation, again and again, beside a client of small puts
 * and gets. With the default heap and with 256 MiB.
 */
@Alone
@Tag("full")
@OwnHeap
class LongWorkIT {
  private static final int CHANGES = 200_000;
  private static final int CHANGES_IN_TXN = 100;
  private static final int ROUNDS = 3;
  private static final Duration HEALTH_TIMEOUT = Duration.ofSeconds(2);

  @TempDir Path directory = Path.of("");

  private static void fill(ManagedChannel channel) {
    SplittableRandom random = new SplittableRandom(14);
    for (int i = 0; i < CHANGES; i += CHANGES_IN_TXN) {
      TxnRequest.Builder txn = TxnRequest.newBuilder();
      random
          .ints(0, 10 * CHANGES)
          .distinct()
          .limit(CHANGES_IN_TXN)
          .forEach(
              key ->
                  txn.addSuccess(
                      RequestOp.newBuilder()
                          .setRequestPut(
                              PutRequest.newBuilder()
                                  .setKey(ByteString.copyFromUtf8("key" + key))
                                  .setValue(ByteString.copyFrom(new byte[100])))));
      KVGrpc.newBlockingStub(channel).txn(txn.build());
    }
  }

  private static void work(ManagedChannel channel) {
    MaintenanceGrpc.MaintenanceBlockingStub calls = MaintenanceGrpc.newBlockingStub(channel);
    for (int round = 0; round < ROUNDS; round++) {
      CompletableFuture<?> first = CompletableFuture.supplyAsync(() -> hash(calls));
      CompletableFuture<?> second = CompletableFuture.supplyAsync(() -> hash(calls));
      calls.defragment(DefragmentRequest.getDefaultInstance());
      CompletableFuture.allOf(first, second).join();
    }
  }

  private static int hash(MaintenanceGrpc.MaintenanceBlockingStub calls) {
    return calls.hashKV(HashKVRequest.getDefaultInstance()).getHash();
  }

  private static void requireHealth(HttpClient http, int port) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/health"))
            .timeout(HEALTH_TIMEOUT)
            .build();
    HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(response.body()).contains("\"health\":\"true\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"512m", "256m"})
  void hashesAndDefragmentationDelayOtherCallsLittle_D(String heap) throws Exception {
    try (NodeProcess member =
        NodeProcess.member(TestJdks.running(), directory, "-Xmx" + heap).start().awaitReady()) {
      ManagedChannel channel =
          Grpc.newChannelBuilder(member.endpoint(), InsecureChannelCredentials.create()).build();
      fill(channel);
      HttpClient http = HttpClient.newHttpClient();
      long start = System.nanoTime();
      try (WellBehavedClient client = WellBehavedClient.start(Target.plain(member.port()))) {
        CompletableFuture<Void> work = CompletableFuture.runAsync(() -> work(channel));
        Awaitility.await()
            .atMost(Duration.ofMinutes(5))
            .pollInterval(Duration.ofMillis(100))
            .until(
                () -> {
                  requireHealth(http, member.port());
                  return work.isDone();
                });
        work.join();
        WellBehavedClient.Figures figures = client.figures();
        System.out.printf(
            "long work: heap=%s took=%s %s%n",
            heap, Duration.ofNanos(System.nanoTime() - start), figures);
        assertThat(figures.failures()).isEmpty();
        assertThat(figures.p99Ms()).isLessThan(1000);
      } finally {
        channel.shutdownNow();
      }
      assertThat(member.isAlive()).isTrue();
    }
  }
}
