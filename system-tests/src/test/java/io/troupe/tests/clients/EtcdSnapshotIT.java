package io.troupe.tests.clients;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.testing.FreePort;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * etcdctl saves a snapshot of a member, checks and restores it, and a real etcd starts from it with
 * the same content (MT8, MT9, SN1, SN2). Packages etcd-client and etcd-server of Debian.
 */
@Tag("full")
class EtcdSnapshotIT {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path directory;

  EtcdSnapshotIT() throws IOException {
    directory = Files.createTempDirectory(Path.of("target"), "snapshot-").toAbsolutePath();
  }

  private String etcdctl(String... args) {
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

  private String at(String endpoint, String... args) {
    List<String> all = new ArrayList<>(List.of("--endpoints=" + endpoint));
    all.addAll(List.of(args));
    return etcdctl(all.toArray(String[]::new));
  }

  private JsonNode json(String endpoint, String... args) throws IOException {
    List<String> all = new ArrayList<>(List.of(args));
    all.add("--write-out=json");
    return JSON.readTree(at(endpoint, all.toArray(String[]::new)));
  }

  /** Keys with versions, deletions, leases, a compaction, users and roles. */
  private void fill(String endpoint) throws IOException {
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

  private static NodeProcess.Builder etcd(Path directory, String client, String peer, Path data) {
    return NodeProcess.program(
            directory,
            "etcd",
            "--name=one",
            "--data-dir=" + data,
            "--listen-client-urls=" + client,
            "--advertise-client-urls=" + client,
            "--listen-peer-urls=" + peer,
            "--initial-advertise-peer-urls=" + peer,
            "--initial-cluster=one=" + peer)
        .named("etcd");
  }

  private void awaitHealthy(String client) {
    Awaitility.await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(() -> at(client, "endpoint", "health"));
  }

  private static String url() {
    return "http://127.0.0.1:" + FreePort.next();
  }

  @Test
  void etcdStartsFromSnapshotOfMember() throws IOException {
    Path file = directory.resolve("saved.db");
    List<String> before;
    try (NodeProcess member =
        NodeProcess.member(TestJdks.running(), directory.resolve("member")).start().awaitReady()) {
      fill(member.endpoint());
      before = content(member.endpoint());
      assertThat(at(member.endpoint(), "snapshot", "save", file.toString()))
          .contains("Snapshot saved at " + file);
      JsonNode status = JSON.readTree(etcdctl("snapshot", "status", file.toString(), "-w=json"));
      assertThat(status.get("revision").asLong())
          .isEqualTo(json(member.endpoint(), "get", "key").at("/header/revision").asLong());
      assertThat(status.get("totalKey").asLong()).isGreaterThan(60);
    }
    String client = url();
    String peer = url();
    Path data = directory.resolve("restored");
    etcdctl(
        "snapshot",
        "restore",
        file.toString(),
        "--name=one",
        "--data-dir=" + data,
        "--initial-cluster=one=" + peer,
        "--initial-advertise-peer-urls=" + peer);
    try (NodeProcess etcd = etcd(directory, client, peer, data).start()) {
      awaitHealthy(client);
      assertThat(content(client)).as("%s", etcd).isEqualTo(before);
      assertThat(at(client, "put", "after", "restore")).startsWith("OK");
    }
  }

  /** Each member restores the same file under its own name, as with etcd. */
  @Test
  void membersStartFromSnapshotOfEtcd_SN2() throws IOException {
    Path file = directory.resolve("saved.db");
    List<String> before;
    String etcdClient = url();
    try (NodeProcess etcd =
        etcd(directory, etcdClient, url(), directory.resolve("etcd-data")).start()) {
      awaitHealthy(etcdClient);
      fill(etcdClient);
      before = content(etcdClient);
      assertThat(at(etcdClient, "snapshot", "save", file.toString())).as("%s", etcd).isNotEmpty();
    }
    List<String> names = List.of("one", "two", "three");
    List<String> peers = names.stream().map(name -> url()).toList();
    String cluster =
        IntStream.range(0, 3)
            .mapToObj(i -> names.get(i) + "=" + peers.get(i))
            .collect(Collectors.joining(","));
    List<NodeProcess> members = new ArrayList<>();
    try {
      for (int i = 0; i < 3; i++) {
        members.add(restored(file, names.get(i), peers.get(i), cluster));
      }
      members.forEach(NodeProcess::awaitReady);
      for (NodeProcess member : members) {
        assertThat(content(member.endpoint())).isEqualTo(before);
      }
      String first = members.get(0).endpoint();
      assertThat(at(first, "put", "after", "restore")).startsWith("OK");
      String hash = json(first, "endpoint", "hashkv").get(0).at("/HashKV/hash").asText();
      for (NodeProcess member : members) {
        assertThat(at(member.endpoint(), "get", "after")).contains("restore");
        assertThat(json(member.endpoint(), "endpoint", "hashkv").get(0).at("/HashKV/hash").asText())
            .isEqualTo(hash);
      }
    } finally {
      members.forEach(NodeProcess::close);
    }
  }

  /** Restores the file for one member and starts it. */
  private NodeProcess restored(Path file, String name, String peer, String cluster) {
    Path own = directory.resolve(name);
    try (NodeProcess restore =
        NodeProcess.jar(TestJdks.running(), own, List.of())
            .args(
                "snapshot",
                "restore",
                file.toString(),
                "--name=" + name,
                "--data-dir=" + own.resolve("data"),
                "--initial-cluster=" + cluster,
                "--initial-advertise-peer-urls=" + peer)
            .named("restore")
            .start()) {
      assertThat(restore.awaitExit()).as("%s", restore).isZero();
      assertThat(restore.err()).contains("restored " + file + " to ");
    }
    return NodeProcess.member(TestJdks.running(), own)
        .named(name)
        .setting("name", name)
        .setting("listen-peer-urls", peer)
        .setting("initial-advertise-peer-urls", peer)
        .setting("initial-cluster", cluster)
        .start();
  }

  /** What both servers must show in the same way. */
  private List<String> content(String endpoint) throws IOException {
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
