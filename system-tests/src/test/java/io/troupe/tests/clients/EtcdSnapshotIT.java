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
    String client = "http://127.0.0.1:" + FreePort.next();
    String peer = "http://127.0.0.1:" + FreePort.next();
    Path data = directory.resolve("restored");
    etcdctl(
        "snapshot",
        "restore",
        file.toString(),
        "--name=etcd",
        "--data-dir=" + data,
        "--initial-cluster=etcd=" + peer,
        "--initial-advertise-peer-urls=" + peer);
    try (NodeProcess etcd =
        NodeProcess.program(
                directory,
                "etcd",
                "--name=etcd",
                "--data-dir=" + data,
                "--listen-client-urls=" + client,
                "--advertise-client-urls=" + client,
                "--listen-peer-urls=" + peer,
                "--initial-advertise-peer-urls=" + peer)
            .named("etcd")
            .start()) {
      Awaitility.await()
          .atMost(Duration.ofMinutes(1))
          .untilAsserted(() -> at(client, "endpoint", "health"));
      assertThat(content(client)).isEqualTo(before);
      assertThat(at(client, "put", "after", "restore")).startsWith("OK");
    }
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
