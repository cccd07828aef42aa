package io.troupe.tests.clients;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * etcdctl saves a snapshot of a member, checks and restores it, and a real etcd starts from it with
 * the same content (MT8, MT9, SN1, SN2). Packages etcd-client and etcd-server of Debian.
 */
@Tag("full")
@HeapIndependent
class EtcdSnapshotIT {
  private final Path directory;
  private final RealEtcd real;

  EtcdSnapshotIT() throws IOException {
    directory = Files.createTempDirectory(Path.of("target"), "snapshot-").toAbsolutePath();
    real = new RealEtcd(directory);
  }

  @Test
  void etcdStartsFromSnapshotOfMember() throws IOException {
    Path file = directory.resolve("saved.db");
    List<String> before;
    try (NodeProcess member =
        NodeProcess.member(TestJdks.running(), directory.resolve("member")).start().awaitReady()) {
      real.fill(member.endpoint());
      before = real.content(member.endpoint());
      assertThat(real.at(member.endpoint(), "snapshot", "save", file.toString()))
          .contains("Snapshot saved at " + file);
      JsonNode status =
          RealEtcd.parsed(real.etcdctl("snapshot", "status", file.toString(), "-w=json"));
      assertThat(status.get("revision").asLong())
          .isEqualTo(real.json(member.endpoint(), "get", "key").at("/header/revision").asLong());
      assertThat(status.get("totalKey").asLong()).isGreaterThan(60);
    }
    String client = RealEtcd.url();
    String peer = RealEtcd.url();
    Path data = directory.resolve("restored");
    real.etcdctl(
        "snapshot",
        "restore",
        file.toString(),
        "--name=one",
        "--data-dir=" + data,
        "--initial-cluster=one=" + peer,
        "--initial-advertise-peer-urls=" + peer);
    try (NodeProcess etcd = real.single(client, peer, data).start()) {
      real.awaitHealthy(client);
      assertThat(real.content(client)).as("%s", etcd).isEqualTo(before);
      assertThat(real.at(client, "put", "after", "restore")).startsWith("OK");
    }
  }

  /** Each member restores the same file under its own name, as with etcd. */
  @Test
  void membersStartFromSnapshotOfEtcd_SN2() throws IOException {
    Path file = directory.resolve("saved.db");
    List<String> before;
    String etcdClient = RealEtcd.url();
    try (NodeProcess etcd =
        real.single(etcdClient, RealEtcd.url(), directory.resolve("etcd-data")).start()) {
      real.awaitHealthy(etcdClient);
      real.fill(etcdClient);
      before = real.content(etcdClient);
      assertThat(real.at(etcdClient, "snapshot", "save", file.toString()))
          .as("%s", etcd)
          .isNotEmpty();
    }
    List<String> names = List.of("one", "two", "three");
    List<String> peers = names.stream().map(name -> RealEtcd.url()).toList();
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
        assertThat(real.content(member.endpoint())).isEqualTo(before);
      }
      String first = members.get(0).endpoint();
      assertThat(real.at(first, "put", "after", "restore")).startsWith("OK");
      String hash = real.json(first, "endpoint", "hashkv").get(0).at("/HashKV/hash").asText();
      for (NodeProcess member : members) {
        assertThat(real.at(member.endpoint(), "get", "after")).contains("restore");
        assertThat(
                real.json(member.endpoint(), "endpoint", "hashkv")
                    .get(0)
                    .at("/HashKV/hash")
                    .asText())
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
}
