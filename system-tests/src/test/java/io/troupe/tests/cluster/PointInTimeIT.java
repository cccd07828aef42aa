package io.troupe.tests.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.tests.process.Clusters;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The log in the backups: over changes of the leader and installed snapshots, and restores from it.
 */
@Clusters
@Tag("full")
@HeapIndependent
class PointInTimeIT {
  private static final List<String> NAMES = List.of("n1", "n2", "n3");

  private final Path directory;
  private final Path target;
  private final ProcessCluster cluster;

  PointInTimeIT() throws IOException {
    directory = Files.createTempDirectory(Path.of("target"), "point-").toAbsolutePath();
    target = directory.resolve("target");
    cluster = new ProcessCluster(directory.resolve("old"));
    cluster.setting("backup.directory", target.toString());
    cluster.setting("backup.log-interval", "1 s");
    // One backup soon, and no second one: the first check is after a quarter of the shorter time.
    cluster.setting("backup.interval", "1 hour");
    cluster.setting("backup.stall-timeout", "20 s");
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  private String backup(String... args) {
    String[] all = Stream.concat(Stream.of("backup"), Stream.of(args)).toArray(String[]::new);
    try (NodeProcess command =
        NodeProcess.jar(TestJdks.running(), directory, List.of())
            .args(all)
            .named("backup")
            .start()) {
      assertThat(command.awaitExit()).as("%s", command).isZero();
      return command.out() + command.err();
    }
  }

  /** The columns of each backup, the newest first. */
  private List<String[]> backups() {
    return backup("list", "--from=" + target).lines().map(line -> line.split(", ", -1)).toList();
  }

  private static long revision(ProcessCluster of, String member) {
    String json = of.run(member, "get", "none", "-w=json");
    return Long.parseLong(json.replaceAll("(?s).*\"revision\":(\\d+).*", "$1"));
  }

  private static String keys(ProcessCluster of, String member, String... more) {
    String[] args =
        Stream.concat(Stream.of("get", "", "--prefix", "-w=fields"), Arrays.stream(more))
            .toArray(String[]::new);
    return of.run(member, args)
        .lines()
        .filter(line -> !line.contains("ID\"") && !line.contains("RaftTerm"))
        .filter(line -> !line.startsWith("\"Revision\""))
        .collect(Collectors.joining("\n"));
  }

  private void awaitLog(long revision) {
    ProcessCluster.await("the log up to revision " + revision)
        .until(() -> Long.parseLong(backups().get(0)[6]) >= revision);
  }

  private void killAll() {
    cluster.running().forEach(name -> cluster.process(name).kill());
  }

  /** Restores all members, starts them and returns them; the caller closes them. */
  private ProcessCluster restored(String name, String... goal) {
    ProcessCluster restored = new ProcessCluster(directory.resolve(name));
    String members = restored.cluster("n1", "n2", "n3");
    Path output = directory.resolve(name + "-data");
    backup(
        Stream.concat(
                Stream.of(
                    "restore",
                    "--from=" + target,
                    "--initial-cluster=" + members,
                    "--initial-cluster-token=" + ProcessCluster.TOKEN,
                    "--output=" + output),
                Stream.of(goal))
            .toArray(String[]::new));
    for (String each : NAMES) {
      restored.start(each, "new", members, "-Dtroupe.data-dir=" + output.resolve(each));
    }
    for (String each : NAMES) {
      restored.process(each).awaitReady();
    }
    return restored;
  }

  @Test
  void clusterIsRestoredToAnyRevision() {
    cluster.startNew("n1", "n2", "n3");
    String leader = cluster.awaitLeader();
    cluster.run(leader, "put", "before", "the backup");
    ProcessCluster.await("the backup").until(() -> backups().size() == 1);
    for (int i = 0; i < 10; i++) {
      cluster.run(leader, "put", "key" + i % 3, "value" + i);
    }
    awaitLog(revision(cluster, leader));
    cluster.process(leader).kill();
    String next = cluster.awaitLeader();
    long middle = revision(cluster, next);
    // The mistake.
    cluster.run(next, "del", "", "--prefix");
    cluster.run(next, "user", "add", "guest:secret");
    String lease =
        cluster.run(next, "lease", "grant", "6000").replaceAll("(?s)lease (\\w+) .*", "$1");
    cluster.run(next, "put", "leased", "1", "--lease=" + lease);
    long last = revision(cluster, next);
    String keysBefore = keys(cluster, next, "--rev=" + middle);
    String keysAfter = keys(cluster, next);
    awaitLog(last);
    assertThat(backups()).as("all of it is in the log, also of the next leader").hasSize(1);
    killAll();
    assertThat(backup("verify", "--from=" + target)).contains("the log after it is complete");
    try (ProcessCluster restored = restored("middle", "--revision=" + middle)) {
      for (String name : NAMES) {
        assertThat(keys(restored, name)).isEqualTo(keysBefore);
        assertThat(restored.run(name, "user", "list")).isEmpty();
      }
      assertThat(revision(restored, "n1")).isEqualTo(middle);
      restored.run("n1", "put", "after", "the restore");
      restored.awaitKey("n3", "after", "the restore");
    }
    try (ProcessCluster restored = restored("newest")) {
      for (String name : NAMES) {
        assertThat(keys(restored, name)).isEqualTo(keysAfter);
        assertThat(keys(restored, name, "--rev=" + middle)).isEqualTo(keysBefore);
        assertThat(restored.run(name, "user", "list")).isEqualTo("guest\n");
        assertThat(restored.run(name, "lease", "list")).contains(lease);
        assertThat(restored.process(name).err()).doesNotContain(" ERROR ");
      }
    }
  }

  /** The state and the log of a member were replaced; then it leads. */
  @Test
  void memberThatInstalledASnapshotContinuesBackupsAndLog() {
    cluster.setting("snapshot-count", "20");
    cluster.setting("snapshot-min-interval", "0 ms");
    cluster.setting("backup.interval", "5 s");
    cluster.setting("backup.keep", "1000");
    cluster.startNew("n1", "n2", "n3");
    String leader = cluster.awaitLeader();
    ProcessCluster.await("the first backup").until(() -> !backups().isEmpty());
    String behind = NAMES.stream().filter(name -> !name.equals(leader)).findFirst().orElseThrow();
    cluster.process(behind).kill();
    String large = "x".repeat(100_000);
    for (int i = 0; i < 120; i++) {
      cluster.run(leader, "put", "large" + i % 5, large + i);
    }
    cluster.restart(behind);
    cluster.awaitKey(behind, "large4", large + 119);
    ProcessCluster.await("the installed snapshot")
        .until(
            () ->
                cluster
                    .process(behind)
                    .err()
                    .contains("replacing the state, the log begins after a newer snapshot"));
    String id = cluster.id(behind, cluster.peerUrl(behind));
    cluster.run(leader, "move-leader", id);
    ProcessCluster.await("the new leader").until(() -> cluster.awaitLeader().equals(behind));
    int before = backups().size();
    cluster.run(behind, "put", "after", "the snapshot");
    long last = revision(cluster, behind);
    awaitLog(last);
    ProcessCluster.await("a backup of the new leader")
        .until(
            () ->
                backups().size() > before
                    && Long.parseLong(backups().get(0)[2]) >= last
                    && backups().get(0)[5].equals(id));
    String keys = keys(cluster, behind);
    killAll();
    try (ProcessCluster restored = restored("restored")) {
      assertThat(keys(restored, "n1")).isEqualTo(keys);
    }
  }
}
