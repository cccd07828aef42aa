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
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Members start on what {@code migrate} makes of the directories of killed etcd members, with the
 * content that etcd itself recovers from them (docs/migration.md). Packages etcd-client and
 * etcd-server of Debian.
 */
@Tag("full")
@HeapIndependent
class MigrateIT {
  private static final List<String> NAMES = List.of("one", "two", "three");
  private static final Pattern LAST = Pattern.compile("last entry: term (\\d+), index (\\d+);");

  private final Path directory;
  private final RealEtcd real;
  private final List<String> clients = urls();
  private final List<String> peers = urls();
  private final String cluster =
      IntStream.range(0, 3)
          .mapToObj(i -> NAMES.get(i) + "=" + peers.get(i))
          .collect(Collectors.joining(","));

  MigrateIT() throws IOException {
    directory = Files.createTempDirectory(Path.of("target"), "migrate-").toAbsolutePath();
    real = new RealEtcd(directory);
  }

  private static List<String> urls() {
    return NAMES.stream().map(name -> RealEtcd.url()).toList();
  }

  private List<NodeProcess> startEtcd(String parent) {
    List<NodeProcess> members = new ArrayList<>();
    for (int i = 0; i < NAMES.size(); i++) {
      String name = NAMES.get(i);
      Path data = directory.resolve(parent).resolve(name);
      members.add(real.member(name, clients.get(i), peers.get(i), cluster, data).start());
    }
    return members;
  }

  /** Runs the command; returns its messages. */
  private String migrate(int status, Path from, Path to, String... more) {
    try (NodeProcess migrate =
        NodeProcess.jar(TestJdks.running(), directory.resolve("migrate"), List.of())
            .args("migrate", "--data-dir=" + from, "--output=" + to)
            .args(more)
            .named("migrate")
            .start()) {
      assertThat(migrate.awaitExit()).as("%s", migrate).isEqualTo(status);
      return migrate.err();
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path each : all.toList()) {
        Files.copy(each, to.resolve(from.relativize(each)));
      }
    }
  }

  private static String members(JsonNode list) {
    TreeMap<String, String> members = new TreeMap<>();
    for (JsonNode member : list.get("members")) {
      members.put(member.get("ID").asText(), member.get("name").asText() + member.get("peerURLs"));
    }
    return list.at("/header/cluster_id").asText() + members;
  }

  @Test
  void clusterContinuesAfterItWasKilled() throws IOException {
    List<NodeProcess> etcd = startEtcd("etcd");
    try {
      clients.forEach(real::awaitHealthy);
      real.fill(clients.get(0));
      assertThat(migrate(1, directory.resolve("etcd/one"), directory.resolve("refused")))
          .contains("is locked by another process: stop etcd first");
      assertThat(directory.resolve("refused")).doesNotExist();
      for (int i = 0; i < 20; i++) {
        real.at(clients.get(i % 3), "put", "late" + i, "value");
      }
    } finally {
      etcd.forEach(NodeProcess::kill);
    }

    Files.createDirectories(directory.resolve("copies"));
    for (String name : NAMES) {
      copy(directory.resolve("etcd").resolve(name), directory.resolve("copies").resolve(name));
    }
    List<String> expected;
    String members;
    List<NodeProcess> again = startEtcd("copies");
    try {
      clients.forEach(real::awaitHealthy);
      expected = real.content(clients.get(0));
      members = members(real.json(clients.get(0), "member", "list"));
    } finally {
      again.forEach(NodeProcess::kill);
    }
    assertThat(expected.get(0)).contains("\"key\"");

    Path newest = newest();
    List<NodeProcess> troupe = new ArrayList<>();
    try {
      for (int i = 0; i < NAMES.size(); i++) {
        String name = NAMES.get(i);
        Path own = directory.resolve("troupe").resolve(name);
        assertThat(migrate(0, newest, own.resolve("data"), "--name=" + name))
            .contains("member " + name + " (");
        troupe.add(
            NodeProcess.member(TestJdks.running(), own)
                .named(name)
                .setting("name", name)
                .setting("listen-peer-urls", peers.get(i))
                .setting("initial-advertise-peer-urls", peers.get(i))
                .setting("initial-cluster", cluster)
                .start());
      }
      troupe.forEach(NodeProcess::awaitReady);
      for (NodeProcess member : troupe) {
        assertThat(real.content(member.endpoint())).as("%s", member).isEqualTo(expected);
        assertThat(real.at(member.endpoint(), "get", "late19")).contains("value");
      }
      String first = troupe.get(0).endpoint();
      assertThat(members(real.json(first, "member", "list"))).isEqualTo(members);
      assertThat(real.at(first, "put", "after", "migration")).startsWith("OK");
      for (NodeProcess member : troupe) {
        assertThat(real.at(member.endpoint(), "get", "after")).contains("migration");
        assertThat(member.err()).doesNotContain("diverge");
      }
      real.at(first, "user", "grant-role", "root", "root");
      real.at(first, "auth", "enable");
      assertThat(real.at(first, "--user=guest:secret", "get", "key1")).contains("value");
    } finally {
      troupe.forEach(NodeProcess::close);
    }
  }

  /** Step 2 of the page: the directory with the newest log. */
  private Path newest() {
    record Log(long term, long index, Path directory) {}
    List<Log> logs = new ArrayList<>();
    for (String name : NAMES) {
      Path etcd = directory.resolve("etcd").resolve(name);
      String said = migrate(0, etcd, directory.resolve("scratch").resolve(name));
      Matcher last = LAST.matcher(said);
      assertThat(last.find()).as(said).isTrue();
      logs.add(new Log(Long.parseLong(last.group(1)), Long.parseLong(last.group(2)), etcd));
    }
    return logs.stream()
        .max(Comparator.comparingLong(Log::term).thenComparingLong(Log::index))
        .orElseThrow()
        .directory();
  }
}
