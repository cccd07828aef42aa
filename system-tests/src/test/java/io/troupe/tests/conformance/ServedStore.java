package io.troupe.tests.conformance;

import com.typesafe.config.Config;
import io.troupe.grpc.api.StatusRequest;
import io.troupe.grpc.api.StatusResponse;
import io.troupe.node.RunningNode;
import io.troupe.node.TestConfig;
import io.troupe.testing.FreePort;
import io.troupe.tests.process.NodeProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * One fresh store for a test class: a member in this JVM. To check the tests themselves, the system
 * property {@code troupe.test.etcd} names an etcd binary to start instead, and {@code
 * troupe.test.endpoint} a running server (host:port), which need not be fresh.
 */
final class ServedStore implements BeforeAllCallback, AfterAllCallback, BeforeEachCallback {
  private static final @Nullable String ETCD = System.getProperty("troupe.test.etcd");
  private static final @Nullable String ENDPOINT = System.getProperty("troupe.test.endpoint");

  private final Map<String, String> settings = new LinkedHashMap<>();
  private @Nullable RunningNode node;
  private @Nullable NodeProcess etcd;
  private @Nullable ApiClient client;
  private String target = "";
  private String prefix = "";

  private ServedStore() {}

  static ServedStore create() {
    return new ServedStore();
  }

  /** A setting, without "troupe." before its name; durations in milliseconds as "100 ms". */
  ServedStore with(String key, String value) {
    settings.put(key, value);
    return this;
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    Path directory =
        Path.of("target", "conformance", context.getRequiredTestClass().getSimpleName());
    wipe(directory);
    if (ENDPOINT != null) {
      target = ENDPOINT;
    } else if (ETCD != null) {
      target = startEtcd(ETCD, directory);
    } else {
      target = startMember(directory);
    }
    client = new ApiClient(target);
    if (ENDPOINT == null) {
      Awaitility.await().ignoreExceptions().until(this::isDecided);
    }
  }

  /** There is a leader; from etcd 3.6 on also a storage version, which follows the first one. */
  private boolean isDecided() {
    StatusResponse status = client().call(Api.STATUS, StatusRequest.getDefaultInstance());
    return status.getLeader() != 0
        && (status.getVersion().startsWith("3.5") || !status.getStorageVersion().isEmpty());
  }

  private String startMember(Path directory) {
    Map<String, Object> all = TestConfig.alone(directory);
    settings.forEach((key, value) -> all.put("troupe." + key, value));
    Config config = TestConfig.of(all);
    node =
        RunningNode.start(
            config,
            failure -> {
              throw new AssertionError("the member cannot continue", failure);
            });
    return "127.0.0.1:" + node.clientPorts().get(0);
  }

  private String startEtcd(String binary, Path directory) {
    int port = FreePort.next();
    int peer = FreePort.next();
    List<String> command = new ArrayList<>();
    command.add(binary);
    command.add("--data-dir=" + directory.resolve("etcd"));
    command.add("--listen-client-urls=http://127.0.0.1:" + port);
    command.add("--advertise-client-urls=http://127.0.0.1:" + port);
    command.add("--listen-peer-urls=http://127.0.0.1:" + peer);
    command.add("--initial-advertise-peer-urls=http://127.0.0.1:" + peer);
    command.add("--initial-cluster=default=http://127.0.0.1:" + peer);
    settings.forEach(
        (key, value) -> {
          boolean bareMillis = key.endsWith("-timeout") || key.equals("heartbeat-interval");
          boolean experimental = key.startsWith("watch-");
          command.add(
              "--"
                  + (experimental ? "experimental-" : "")
                  + key
                  + "="
                  + (bareMillis ? value.replace(" ms", "") : value.replace(" ", "")));
        });
    etcd = NodeProcess.program(directory, command.toArray(String[]::new)).start();
    return "127.0.0.1:" + port;
  }

  private static void wipe(Path directory) {
    if (!Files.exists(directory)) {
      return;
    }
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    prefix =
        context.getRequiredTestMethod().getName() + "-" + context.getUniqueId().hashCode() + "/";
  }

  @Override
  public void afterAll(ExtensionContext context) {
    if (client != null) {
      client.close();
    }
    if (node != null) {
      node.close();
    }
    if (etcd != null) {
      etcd.close();
    }
  }

  ApiClient client() {
    return Objects.requireNonNull(client);
  }

  /** host:port, for tests that need a separate connection. */
  String target() {
    return target;
  }

  /** A key that only this test uses; all keys of a test share a prefix, {@code key("")}. */
  String key(String name) {
    return prefix + name;
  }

  /** For waits: short polls, a long timeout. */
  static org.awaitility.core.ConditionFactory await() {
    return Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .pollInterval(Duration.ofMillis(20))
        .ignoreNoExceptions();
  }

  /**
   * Waits until the streams of earlier tests are gone: a member notices the end of a connection
   * later than the test that closed it, so a gauge that is read at once still counts them.
   */
  void awaitNoWatchers() {
    Http1 http = new Http1(target);
    await()
        .until(
            () -> {
              MetricsText metrics = MetricsText.of(http.get("/metrics").body());
              return metrics.value("etcd_debugging_mvcc_watcher_total") == 0
                  && metrics.value("etcd_debugging_mvcc_watch_stream_total") == 0;
            });
  }

  /** Skips a test that only a fresh store can pass. */
  void needsFreshStore() {
    Assumptions.assumeTrue(ENDPOINT == null, "the server is not fresh");
  }

  /** Skips what intentionally differs from etcd. */
  void needsOwn() {
    Assumptions.assumeTrue(ENDPOINT == null && ETCD == null, "the server is etcd");
  }

  /** Skips a statement that etcd before 3.7 does not follow. */
  void needs37() {
    if (ENDPOINT != null || ETCD != null) {
      String version = client().call(Api.STATUS, StatusRequest.getDefaultInstance()).getVersion();
      Assumptions.assumeTrue(version.startsWith("3.7"), "the server is etcd " + version);
    }
  }
}
