package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.node.RunningNode;
import io.troupe.node.TestConfig;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Members that communicate over unix sockets: three of them in this process. */
class UnixPeersTest {
  private static final int MEMBERS = 3;

  /** Below /tmp: the path of a socket must be short. */
  @TempDir Path directory = Path.of("");

  private String url(String scheme, int number) {
    return scheme + "://" + directory.resolve("p" + number + ".sock");
  }

  private RunningNode start(String scheme, int number) {
    String cluster =
        IntStream.range(0, MEMBERS)
            .mapToObj(each -> "n" + each + "=" + url(scheme, each))
            .collect(Collectors.joining(","));
    Map<String, Object> settings = new HashMap<>();
    settings.put("troupe.name", "n" + number);
    settings.put("troupe.data-dir", directory.resolve("n" + number).toString());
    settings.put("troupe.listen-client-urls", "http://127.0.0.1:0");
    settings.put("troupe.listen-peer-urls", url(scheme, number));
    settings.put("troupe.initial-advertise-peer-urls", url(scheme, number));
    settings.put("troupe.initial-cluster", cluster);
    settings.put("troupe.peer-transport-security.auto-tls", scheme.equals("unixs"));
    return RunningNode.start(
        TestConfig.of(settings),
        failure -> {
          throw new AssertionError("the member cannot continue", failure);
        });
  }

  private static ApiClient client(RunningNode node) {
    return new ApiClient("127.0.0.1:" + node.clientPorts().get(0));
  }

  @ParameterizedTest
  @ValueSource(strings = {"unix", "unixs"})
  void membersReplicateOverUnixSockets(String scheme) throws Exception {
    ExecutorService starting = Executors.newFixedThreadPool(MEMBERS);
    List<RunningNode> nodes = new ArrayList<>();
    try {
      List<CompletableFuture<RunningNode>> starts =
          IntStream.range(0, MEMBERS)
              .mapToObj(
                  number -> CompletableFuture.supplyAsync(() -> start(scheme, number), starting))
              .toList();
      for (CompletableFuture<RunningNode> each : starts) {
        nodes.add(each.get(60, TimeUnit.SECONDS));
      }
      for (RunningNode node : nodes) {
        node.awaitReady();
      }
      for (int i = 0; i < MEMBERS; i++) {
        try (ApiClient writer = client(nodes.get(i));
            ApiClient reader = client(nodes.get((i + 1) % MEMBERS))) {
          writer.put("k" + i, "v" + i);
          assertThat(reader.record("k" + i).getValue().toStringUtf8()).isEqualTo("v" + i);
        }
      }
      // A member restarts: the others reach it at its new socket.
      nodes.remove(0).close();
      assertThat(directory.resolve("p0.sock")).doesNotExist();
      try (ApiClient writer = client(nodes.get(0))) {
        writer.put("k0", "without one");
      }
      RunningNode again = start(scheme, 0);
      nodes.add(again);
      again.awaitReady();
      try (ApiClient reader = client(again)) {
        assertThat(reader.record("k0").getValue().toStringUtf8()).isEqualTo("without one");
      }
    } finally {
      nodes.forEach(RunningNode::close);
      starting.shutdown();
    }
    assertThat(directory.toFile().list((dir, name) -> name.endsWith(".sock"))).isEmpty();
  }
}
