package io.troupe.testkit;

import static io.troupe.testkit.TestClient.await;
import static io.troupe.testkit.TestClient.bytes;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Watch;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Servers in use: calls of clients, restarts, several servers, and what is left of them. */
class TroupeServerTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  @Test
  void singleMemberServesKeysAndTransactions() {
    try (TroupeServer server = TroupeServer.builder().start();
        TestClient client = new TestClient(server.endpoint())) {
      assertThat(server.endpoint()).matches("http://127\\.0\\.0\\.1:\\d+");
      assertThat(server.endpoints()).containsExactly(server.endpoint());
      client.put("key", "first");
      TxnResponse done =
          await(
              client
                  .jetcd()
                  .getKVClient()
                  .txn()
                  .If(new Cmp(bytes("key"), Cmp.Op.EQUAL, CmpTarget.value(bytes("first"))))
                  .Then(Op.put(bytes("key"), bytes("second"), PutOption.DEFAULT))
                  .commit());
      assertThat(done.isSucceeded()).isTrue();
      assertThat(client.get("key")).containsExactly("second");
    }
  }

  @Test
  void singleMemberServesWatchesAndLeases() throws InterruptedException {
    BlockingQueue<WatchEvent> events = new LinkedBlockingQueue<>();
    try (TroupeServer server = TroupeServer.builder().start();
        TestClient client = new TestClient(server.endpoint());
        Watch.Watcher watcher =
            client
                .jetcd()
                .getWatchClient()
                .watch(
                    bytes("session"),
                    WatchOption.builder().withRevision(1).build(),
                    response -> events.addAll(response.getEvents()))) {
      assertThat(watcher).isNotNull();
      long lease = await(client.jetcd().getLeaseClient().grant(60)).getID();
      await(
          client
              .jetcd()
              .getKVClient()
              .put(
                  bytes("session"),
                  bytes("alive"),
                  PutOption.builder().withLeaseId(lease).build()));
      await(client.jetcd().getLeaseClient().revoke(lease));
      assertThat(next(events).getEventType()).isEqualTo(WatchEvent.EventType.PUT);
      assertThat(next(events).getEventType()).isEqualTo(WatchEvent.EventType.DELETE);
      assertThat(client.get("session")).isEmpty();
    }
  }

  private static WatchEvent next(BlockingQueue<WatchEvent> events) throws InterruptedException {
    WatchEvent event = events.poll(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    assertThat(event).isNotNull();
    return event;
  }

  @Test
  void restartKeepsDataAndEndpoint() {
    try (TroupeServer server = TroupeServer.builder().start();
        TestClient client = new TestClient(server.endpoint())) {
      String endpoint = server.endpoint();
      client.put("key", "kept");
      server.restart();
      assertThat(server.endpoint()).isEqualTo(endpoint);
      // The same client: it connects again.
      assertThat(client.get("key")).containsExactly("kept");
    }
  }

  @Test
  void serversOfOneJvmHaveSeparateKeys() {
    try (TroupeServer one = TroupeServer.builder().start();
        TroupeServer other = TroupeServer.builder().start();
        TestClient ofOne = new TestClient(one.endpoint());
        TestClient ofOther = new TestClient(other.endpoint())) {
      ofOne.put("key", "one");
      assertThat(ofOther.get("key")).isEmpty();
      ofOther.put("key", "other");
      assertThat(ofOne.get("key")).containsExactly("one");
    }
  }

  @Test
  void threeMembersSurviveStopOfLeader() {
    try (TroupeServer server = TroupeServer.builder().members(3).start();
        TestClient client = new TestClient(server.endpoints())) {
      assertThat(server.endpoints()).hasSize(3).doesNotHaveDuplicates();
      client.put("key", "before");
      int leader = client.leader(server.endpoints());
      server.stopMember(leader);
      List<String> rest =
          server.endpoints().stream()
              .filter(each -> !each.equals(server.endpoints().get(leader)))
              .toList();
      try (TestClient others = new TestClient(rest)) {
        assertThat(others.get("key")).containsExactly("before");
        others.put("key", "after");
        server.restartMember(leader);
        try (TestClient restarted = new TestClient(server.endpoints().get(leader))) {
          assertThat(restarted.get("key")).containsExactly("after");
        }
      }
    }
  }

  @Test
  void restartOfThreeMembersKeepsData() {
    try (TroupeServer server = TroupeServer.builder().members(3).start();
        TestClient client = new TestClient(server.endpoints())) {
      client.put("key", "kept");
      server.restart();
      assertThat(client.get("key")).containsExactly("kept");
    }
  }

  @Test
  void settingReachesMember() {
    try (TroupeServer server = TroupeServer.builder().setting("troupe.max-txn-ops", "1").start();
        TestClient client = new TestClient(server.endpoint())) {
      Op put = Op.put(bytes("a"), bytes("b"), PutOption.DEFAULT);
      assertThat(client.jetcd().getKVClient().txn().Then(put, put).commit())
          .failsWithin(TIMEOUT)
          .withThrowableThat()
          .withMessageContaining("too many operations");
    }
  }

  @Test
  void membersOfOneJvmShareMemoryOfClientsAndPeers() throws Exception {
    try (TroupeServer server = TroupeServer.builder().members(3).start()) {
      long heap = Runtime.getRuntime().maxMemory();
      for (String endpoint : server.endpoints()) {
        String metrics = metrics(endpoint);
        assertThat(value(metrics, "troupe_client_memory_limit_bytes ")).isLessThan(heap / 23.0);
        assertThat(value(metrics, "troupe_peer_memory_limit_bytes{part=\"fragments\"} "))
            .isLessThan(heap / 23.0 / 2);
      }
    }
  }

  private static String metrics(String endpoint) throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(URI.create(endpoint + "/metrics")).build();
    return HttpClient.newHttpClient()
        .send(request, HttpResponse.BodyHandlers.ofString(UTF_8))
        .body();
  }

  private static double value(String metrics, String name) {
    String line = metrics.lines().filter(each -> each.startsWith(name)).findFirst().orElseThrow();
    return Double.parseDouble(line.substring(name.length()));
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void closeLeavesNothing() throws IOException {
    Remains remains = new Remains();
    int port;
    try (TroupeServer server = TroupeServer.builder().members(3).start()) {
      port = URI.create(server.endpoint()).getPort();
      assertThat(Remains.directories()).isNotEmpty();
      assertThat(Remains.openFiles()).isNotEmpty();
      assertThat(remains.newThreads()).isNotEmpty();
    }
    assertThat(Remains.directories()).isEmpty();
    assertThat(Remains.openFiles()).isEmpty();
    new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
    // A thread that has left its pool still runs for a moment.
    Awaitility.await()
        .pollInSameThread()
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(remains.newThreads()).isEmpty());
  }

  @Test
  void closedServerMayBeClosedAgain() {
    TroupeServer server = TroupeServer.builder().start();
    server.close();
    server.close();
    assertThat(Remains.directories()).isEmpty();
  }
}
