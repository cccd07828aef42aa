package io.troupe.tests.clients;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.testing.FreePort;
import io.troupe.tests.process.NodeProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** etcd and etcdctl of the packages etcd-server and etcd-client, and what tests compare. */
final class RealEtcd {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path directory;

  /**
   * Uses a directory.
   *
   * @param directory for the logs
   */
  RealEtcd(Path directory) {
    this.directory = directory;
  }

  /** A free URL. */
  static String url() {
    return "http://127.0.0.1:" + FreePort.next();
  }

  /** Runs etcdctl, which must succeed; returns its output. */
  String etcdctl(String... args) {
    String[] command = Stream.concat(Stream.of("etcdctl"), Stream.of(args)).toArray(String[]::new);
    try (NodeProcess etcdctl =
        NodeProcess.program(directory, command)
            .environment("ETCDCTL_API", "3")
            .named("etcdctl")
            .start()) {
      assertThat(etcdctl.awaitExit()).as("%s", etcdctl).isZero();
      return etcdctl.out();
    }
  }

  /** Runs etcdctl against an endpoint. */
  String at(String endpoint, String... args) {
    List<String> all = new ArrayList<>(List.of("--endpoints=" + endpoint));
    all.addAll(List.of(args));
    return etcdctl(all.toArray(String[]::new));
  }

  /** Runs etcdctl against an endpoint; returns its output as JSON. */
  JsonNode json(String endpoint, String... args) throws IOException {
    List<String> all = new ArrayList<>(List.of(args));
    all.add("--write-out=json");
    return JSON.readTree(at(endpoint, all.toArray(String[]::new)));
  }

  /** Reads JSON. */
  static JsonNode parsed(String text) throws IOException {
    return JSON.readTree(text);
  }

  /** Writes keys with versions, deletions, leases, a compaction, users and roles. */
  void fill(String endpoint) throws IOException {
    String lease = Long.toHexString(json(endpoint, "lease", "grant", "6000").get("ID").asLong());
    String large = "v".repeat(20_000);
    IntStream.range(0, 120)
        .forEach(
            i -> {
              at(endpoint, "put", "key" + i % 50, i % 10 == 0 ? large + i : "value" + i);
              if (i % 9 == 0) {
                at(endpoint, "del", "key" + (i * 7) % 50);
              }
            });
    at(endpoint, "put", "leased", "1", "--lease=" + lease);
    at(endpoint, "compact", "60");
    at(endpoint, "role", "add", "reader");
    at(endpoint, "role", "grant-permission", "reader", "read", "key", "--prefix");
    at(endpoint, "user", "add", "root:secret");
    at(endpoint, "user", "add", "guest:secret");
    at(endpoint, "user", "grant-role", "guest", "reader");
  }

  /** A member of a cluster. */
  NodeProcess.Builder member(
      String name, String client, String peer, String cluster, Path data, String... more) {
    return NodeProcess.program(
            directory,
            "etcd",
            "--name=" + name,
            "--data-dir=" + data,
            "--listen-client-urls=" + client,
            "--advertise-client-urls=" + client,
            "--listen-peer-urls=" + peer,
            "--initial-advertise-peer-urls=" + peer,
            "--initial-cluster=" + cluster)
        .args(more)
        .named("etcd-" + name);
  }

  /** A member of its own. */
  NodeProcess.Builder single(String client, String peer, Path data) {
    return member("one", client, peer, "one=" + peer, data);
  }

  /** Waits until an endpoint serves. */
  void awaitHealthy(String client) {
    Awaitility.await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(() -> at(client, "endpoint", "health"));
  }

  /** What both servers must show in the same way after {@link #fill}. */
  List<String> content(String endpoint) throws IOException {
    JsonNode keys = json(endpoint, "get", "", "--prefix");
    JsonNode hash = json(endpoint, "endpoint", "hashkv").get(0).get("HashKV");
    return List.of(
        "keys " + keys.get("kvs"),
        "revision " + keys.at("/header/revision"),
        "history " + json(endpoint, "get", "", "--prefix", "--rev=70").get("kvs"),
        "hash " + hash.get("hash") + " compacted " + hash.get("compact_revision"),
        "leases " + json(endpoint, "lease", "list").get("leases"),
        "users " + json(endpoint, "user", "list").get("users"),
        "guest " + json(endpoint, "user", "get", "guest").get("roles"),
        "reader " + json(endpoint, "role", "get", "reader").get("perm"));
  }
}
