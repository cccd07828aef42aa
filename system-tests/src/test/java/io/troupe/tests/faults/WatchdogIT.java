package io.troupe.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.node.process.NotifySocket;
import io.troupe.testing.NeedsRoot;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A member under systemd feeds the watchdog until its disk hangs, and again when the disk works.
 * Needs root for the mount; fails without.
 */
@NeedsRoot
@HeapIndependent
class WatchdogIT {
  private static final Duration LIMIT = Duration.ofSeconds(4);
  private static final int LONGEST_HANG_SECONDS = 120;
  private static final Duration TIMEOUT = Duration.ofMinutes(1);

  private final HttpClient client = HttpClient.newHttpClient();

  @TempDir Path directory = Path.of("");

  private static HttpRequest.Builder request(NodeProcess node, String path) {
    return HttpRequest.newBuilder(URI.create("http://" + node.endpoint() + path));
  }

  private CompletableFuture<HttpResponse<String>> put(NodeProcess node) {
    HttpRequest request =
        request(node, "/v3/kv/put")
            .POST(HttpRequest.BodyPublishers.ofString("{\"key\":\"YQ==\",\"value\":\"Yg==\"}"))
            .build();
    return client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
  }

  private double pendingSeconds(NodeProcess node) throws IOException, InterruptedException {
    String metrics =
        client.send(request(node, "/metrics").build(), HttpResponse.BodyHandlers.ofString()).body();
    String name = "troupe_wal_pending_seconds ";
    return metrics
        .lines()
        .filter(line -> line.startsWith(name))
        .mapToDouble(line -> Double.parseDouble(line.substring(name.length())))
        .findFirst()
        .orElseThrow();
  }

  private static void await(NotifySocket systemd, String text) {
    Awaitility.await(text).atMost(TIMEOUT).until(systemd::await, text::equals);
  }

  private static List<String> drain(NotifySocket systemd) {
    return Stream.generate(systemd::poll).takeWhile(text -> !text.isEmpty()).toList();
  }

  @Test
  void beatsStopWhileTheDiskHangs() throws Exception {
    String socket = directory.resolve("notify").toString();
    try (LoopDisk disk = new LoopDisk(directory);
        NotifySocket systemd = new NotifySocket(socket);
        NodeProcess node =
            NodeProcess.member(TestJdks.running(), directory)
                .setting("data-dir", disk.data().toString())
                .environment("NOTIFY_SOCKET", socket)
                .environment("WATCHDOG_USEC", Long.toString(LIMIT.toNanos() / 1_000))
                .start()) {
      await(systemd, "READY=1\nSTATUS=serving clients");
      assertThat(put(node).get(1, TimeUnit.MINUTES).statusCode()).isEqualTo(200);
      for (int beats = 0; beats < 3; beats++) {
        assertThat(systemd.await()).isEqualTo("WATCHDOG=1");
      }
      assertThat(pendingSeconds(node)).isLessThan(1);

      disk.freeze(LONGEST_HANG_SECONDS);
      CompletableFuture<HttpResponse<String>> hanging = put(node);
      // A write to a mapped page of a hanging disk also stops the JVM, at its next safepoint. So
      // the
      // status line may be missing, but beats are missing in either case.
      Awaitility.await("no beat for longer than the limit")
          .atMost(TIMEOUT)
          .during(LIMIT.plusSeconds(1))
          .until(() -> drain(systemd), received -> !received.contains("WATCHDOG=1"));
      assertThat(hanging).isNotDone();
      assertThat(node.isAlive()).isTrue();

      disk.thaw();
      await(systemd, "WATCHDOG=1");
      assertThat(put(node).get(1, TimeUnit.MINUTES).statusCode()).isEqualTo(200);
      assertThat(pendingSeconds(node)).isLessThan(1);
      node.stop();
      await(systemd, "STOPPING=1\nSTATUS=stopping, cause: signal");
    }
  }
}
