package io.troupe.tests.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.testing.FreePort;
import io.troupe.tests.process.Clusters;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestHeap;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Members as processes whose etcd flags enable TLS between peers. */
@Clusters
@Tag("full")
@HeapIndependent
class SecureClusterIT {
  private final List<NodeProcess> running = new ArrayList<>();
  private final int[] clients = {FreePort.next(), FreePort.next(), FreePort.next()};
  private final int[] peers = {FreePort.next(), FreePort.next(), FreePort.next()};

  @AfterEach
  void stop() {
    running.forEach(NodeProcess::close);
  }

  private NodeProcess start(Path directory, int number) {
    String client = "http://127.0.0.1:" + clients[number];
    String peer = "https://127.0.0.1:" + peers[number];
    NodeProcess started =
        NodeProcess.program(directory.resolve("n" + number), NodeProcess.script("etcd").toString())
            .environment("JAVA_HOME", System.getProperty("java.home"))
            .environment("TROUPE_HEAP", TestHeap.size())
            .environment("TROUPE_JAR", NodeProcess.nodeJar().toString())
            .environment("TROUPE_CACHE", directory.toString())
            .environment("TROUPE_ARCHIVE", "off")
            .named("n" + number)
            .args(
                "--name=n" + number,
                "--data-dir=" + directory.resolve("n" + number).resolve("data"),
                "--listen-client-urls=" + client,
                "--advertise-client-urls=" + client,
                "--listen-peer-urls=" + peer,
                "--initial-advertise-peer-urls=" + peer,
                "--peer-auto-tls",
                "--initial-cluster="
                    + IntStream.range(0, 3)
                        .mapToObj(i -> "n" + i + "=https://127.0.0.1:" + peers[i])
                        .collect(Collectors.joining(",")))
            .start();
    running.add(started);
    return started;
  }

  private void etcdctl(Path directory, int via, String expected, String... args) {
    ProcessCluster.await(String.join(" ", args))
        .untilAsserted(
            () -> {
              List<String> command =
                  new ArrayList<>(List.of("etcdctl", "--endpoints=127.0.0.1:" + clients[via]));
              command.addAll(List.of(args));
              try (NodeProcess called =
                  NodeProcess.program(directory, command.toArray(String[]::new))
                      .environment("ETCDCTL_API", "3")
                      .named("etcdctl")
                      .start()) {
                assertThat(called.awaitExit()).as("%s", called).isZero();
                assertThat(called.out()).contains(expected);
              }
            });
  }

  @Test
  void membersWithAutoTlsFormCluster_TL5() throws Exception {
    Path directory = Files.createTempDirectory(Path.of("target"), "secure-cluster-");
    for (int i = 0; i < 3; i++) {
      start(directory, i);
    }
    running.forEach(NodeProcess::awaitReady);
    etcdctl(directory, 0, "OK", "put", "k", "v");
    etcdctl(directory, 2, "v", "get", "k", "--print-value-only");
    running.get(1).kill();
    etcdctl(directory, 2, "OK", "put", "k", "w");
    start(directory, 1).awaitReady();
    etcdctl(directory, 1, "w", "get", "k", "--consistency=s", "--print-value-only");
    etcdctl(directory, 1, "https://127.0.0.1:" + peers[1], "member", "list");
  }
}
