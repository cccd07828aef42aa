package io.troupe.tests.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.tests.process.Clusters;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A cluster writes backups, also after the loss of its leader, and is restored from one. */
@Clusters
@Tag("full")
@HeapIndependent
class BackupIT {
  private static final List<String> NAMES = List.of("n1", "n2", "n3");

  private final Path directory;
  private final Path target;
  private final ProcessCluster cluster;
  private final ProcessCluster restored;

  BackupIT() throws IOException {
    directory = Files.createTempDirectory(Path.of("target"), "backup-").toAbsolutePath();
    target = directory.resolve("target");
    cluster = new ProcessCluster(directory.resolve("old"));
    cluster.setting("backup.directory", target.toString());
    cluster.setting("backup.interval", "1 s");
    cluster.setting("backup.keep", "2");
    restored = new ProcessCluster(directory.resolve("new"));
  }

  @AfterEach
  void stop() {
    cluster.close();
    restored.close();
  }

  private NodeProcess ctl(String... args) {
    String[] all = Stream.concat(Stream.of("backup"), Stream.of(args)).toArray(String[]::new);
    return NodeProcess.jar(TestJdks.running(), directory, List.of())
        .args(all)
        .named("backup")
        .start();
  }

  private String run(String... args) {
    try (NodeProcess command = ctl(args)) {
      assertThat(command.awaitExit()).as("%s", command).isZero();
      return command.out();
    }
  }

  /** Revisions of the backups, the newest first. */
  private List<Long> revisions() {
    return run("list", "--from=" + target)
        .lines()
        .map(line -> Long.valueOf(line.split(", ", -1)[2]))
        .toList();
  }

  private static long revision(ProcessCluster of, String member) {
    String json = of.run(member, "get", "none", "-w=json");
    return Long.parseLong(json.replaceAll("(?s).*\"revision\":(\\d+).*", "$1"));
  }

  private static List<String> content(ProcessCluster of, String member) {
    return List.of(
        of.run(member, "get", "", "--prefix", "-w=fields")
            .lines()
            .filter(line -> !line.contains("ID\"") && !line.contains("RaftTerm"))
            .collect(Collectors.joining("\n")),
        of.run(member, "get", "key", "--rev=4"),
        of.run(member, "user", "list"),
        of.run(member, "lease", "list"));
  }

  @Test
  void clusterIsRestoredFromTheBackupOfItsLastLeader() {
    cluster.startNew("n1", "n2", "n3");
    String leader = cluster.awaitLeader();
    String lease =
        cluster.run(leader, "lease", "grant", "6000").replaceAll("(?s)lease (\\w+) .*", "$1");
    for (int i = 0; i < 5; i++) {
      cluster.run(leader, "put", "key", "value" + i);
      cluster.run(leader, "put", "leased" + i, "1", "--lease=" + lease);
    }
    cluster.run(leader, "user", "add", "guest:secret");
    ProcessCluster.await("a backup").until(() -> !revisions().isEmpty());
    cluster.process(leader).kill();
    String next = cluster.awaitLeader();
    cluster.run(next, "put", "after", "the next leader");
    long last = revision(cluster, next);
    ProcessCluster.await("a backup of the next leader")
        .until(() -> revisions().get(0) == last && revisions().size() == 2);
    List<String> before = content(cluster, next);
    for (String name : cluster.running()) {
      cluster.process(name).kill();
    }
    assertThat(run("verify", "--from=" + target)).contains(" is complete: ");
    String members = restored.cluster("n1", "n2", "n3");
    Path output = directory.resolve("restored");
    String printed =
        run(
            "restore",
            "--from=" + target,
            "--initial-cluster=" + members,
            "--initial-cluster-token=" + ProcessCluster.TOKEN,
            "--output=" + output);
    assertThat(printed).as("no lines of libraries").isEmpty();
    for (String name : NAMES) {
      restored.start(name, "new", members, "-Dtroupe.data-dir=" + output.resolve(name));
    }
    for (String name : NAMES) {
      restored.process(name).awaitReady();
      assertThat(content(restored, name)).isEqualTo(before);
    }
    assertThat(restored.run("n1", "put", "after", "the restore")).startsWith("OK");
    restored.awaitKey("n3", "after", "the restore");
    for (String name : NAMES) {
      assertThat(restored.process(name).err()).doesNotContain(" ERROR ");
    }
    try (NodeProcess again =
        ctl("restore", "--from=" + target, "--initial-cluster=" + members, "--output=" + output)) {
      assertThat(again.awaitExit()).as("%s", again).isOne();
      assertThat(again.err()).contains("data-dir").contains("not empty");
    }
  }
}
