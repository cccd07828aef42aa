package io.troupe.tests.clients;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.testing.FreePort;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * etcd's own proxies work in front of a member (PX1 to PX3). Packages etcd-client and etcd-server
 * of Debian.
 */
@Tag("full")
@HeapIndependent
class EtcdProxiesIT {
  private final Path directory;
  private final NodeProcess member;
  private final List<NodeProcess> running = new ArrayList<>();

  EtcdProxiesIT() throws IOException {
    directory = Files.createTempDirectory(Path.of("target"), "proxies-").toAbsolutePath();
    member = NodeProcess.member(TestJdks.running(), directory.resolve("member")).start();
    running.add(member);
  }

  @BeforeEach
  void start() {
    member.awaitReady();
  }

  @AfterEach
  void end() {
    for (int i = running.size() - 1; i >= 0; i--) {
      running.get(i).close();
    }
  }

  private NodeProcess.Builder command(String endpoint, String... args) {
    List<String> all = new ArrayList<>(List.of("etcdctl", "--endpoints=" + endpoint));
    all.addAll(List.of(args));
    return NodeProcess.program(directory, all.toArray(String[]::new))
        .environment("ETCDCTL_API", "3")
        .named("etcdctl");
  }

  private String run(String endpoint, String... args) {
    return finish(command(endpoint, args));
  }

  private static String finish(NodeProcess.Builder command) {
    try (NodeProcess etcdctl = command.start()) {
      assertThat(etcdctl.awaitExit()).as("%s", etcdctl).isZero();
      return etcdctl.out();
    }
  }

  private NodeProcess started(NodeProcess.Builder command) {
    NodeProcess started = command.start();
    running.add(started);
    return started;
  }

  /** Starts one of etcd's proxies and waits until it passes requests on. */
  private String proxy(String kind, String... args) {
    String address = "127.0.0.1:" + FreePort.next();
    List<String> all = new ArrayList<>(List.of("etcd", kind, "start", "--listen-addr=" + address));
    all.addAll(List.of(args));
    started(NodeProcess.program(directory, all.toArray(String[]::new)).named(kind));
    Awaitility.await(kind)
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(() -> run(address, "get", "started"));
    return address;
  }

  private void putAndGet(String endpoint) {
    assertThat(run(endpoint, "put", "key", "value")).startsWith("OK");
    assertThat(run(endpoint, "get", "key")).isEqualTo("key\nvalue\n");
    assertThat(run(member.endpoint(), "get", "key")).isEqualTo("key\nvalue\n");
    assertThat(run(endpoint, "del", "key")).isEqualTo("1\n");
  }

  /** Two clients watch one key through the proxy, which the member sees as one watcher. */
  private void watch(String endpoint, String other) {
    NodeProcess first = started(command(endpoint, "watch", "watched"));
    NodeProcess second = started(command(endpoint, "watch", "watched"));
    for (NodeProcess watch : List.of(first, second)) {
      Awaitility.await("event")
          .atMost(Duration.ofMinutes(1))
          .pollInterval(Duration.ofMillis(500))
          .until(
              () -> {
                run(other, "put", "watched", "seen");
                return watch.out().contains("PUT\nwatched\nseen");
              });
    }
  }

  private void lease(String endpoint) {
    String granted = run(endpoint, "lease", "grant", "2");
    String lease = granted.replaceAll("(?s)lease (\\w+) .*", "$1");
    run(endpoint, "put", "leased", "1", "--lease=" + lease);
    try (NodeProcess renewal = command(endpoint, "lease", "keep-alive", lease).start()) {
      Awaitility.await("three renewals")
          .atMost(Duration.ofMinutes(1))
          .until(() -> renewal.out().lines().filter(l -> l.contains("keepalived")).count() > 3);
    }
    assertThat(run(endpoint, "get", "leased")).contains("leased");
    Awaitility.await("end of the lease")
        .atMost(Duration.ofMinutes(1))
        .until(() -> run(member.endpoint(), "get", "leased").isEmpty());
  }

  @Test
  void gatewayPassesRequestsToTheMemberThatRuns_PX1() {
    String absent = "127.0.0.1:" + FreePort.next();
    String gateway =
        proxy("gateway", "--retry-delay=1s", "--endpoints=" + absent + "," + member.endpoint());
    putAndGet(gateway);
    watch(gateway, member.endpoint());
    lease(gateway);
    run(gateway, "endpoint", "health");
  }

  @Test
  void grpcProxyServesClients_PX2_PX3() {
    String proxy =
        proxy(
            "grpc-proxy",
            "--endpoints=" + member.endpoint(),
            "--data-dir=" + directory.resolve("proxy"));
    putAndGet(proxy);
    watch(proxy, proxy);
    watch(proxy, member.endpoint());
    lease(proxy);
    assertThat(run(proxy, "lock", "name", "echo", "held")).contains("held");
    assertThat(run(proxy, "compact", revision(proxy))).contains("compacted revision");
    assertThat(run(proxy, "endpoint", "status", "-w=json")).contains("\"version\":\"3.7.1\"");
    assertThat(run(proxy, "member", "list")).contains(", started, ");
  }

  @Test
  void namespaceOfGrpcProxyIsAPrefixOfKeys_PX3() {
    String proxy =
        proxy(
            "grpc-proxy",
            "--namespace=tenant/",
            "--endpoints=" + member.endpoint(),
            "--data-dir=" + directory.resolve("proxy"));
    run(proxy, "put", "key", "1");
    assertThat(run(proxy, "get", "", "--prefix")).isEqualTo("key\n1\n");
    assertThat(run(member.endpoint(), "get", "", "--prefix")).isEqualTo("tenant/key\n1\n");
  }

  private String revision(String endpoint) {
    String json = run(endpoint, "get", "none", "-w=json");
    return json.replaceAll("(?s).*\"revision\":(\\d+).*", "$1");
  }
}
