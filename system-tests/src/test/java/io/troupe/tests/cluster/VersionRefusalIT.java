package io.troupe.tests.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Members whose version does not fit their data or their cluster (V2). */
@Tag("full")
@HeapIndependent
class VersionRefusalIT {
  private static final int VERSION = 9;
  private static final String OLD = "-Dtroupe.acts-as-version=3.6.16";
  private static final String OWN = "-Dtroupe.acts-as-version=";

  private final Path directory;

  VersionRefusalIT(@TempDir Path directory) {
    this.directory = directory;
  }

  @Test
  void memberOlderThanItsDataRefusesToStartAndLosesNothing_V2() {
    try (ProcessCluster cluster = new ProcessCluster(directory)) {
      cluster.startNew("a").run("a", "put", "key", "kept");
      cluster.process("a").awaitLine("set initial cluster version");
      cluster.process("a").stop();

      NodeProcess refused = cluster.start("a", "new", cluster.cluster("a"), OLD);

      assertThat(refused.awaitExit()).as("%s", refused).isEqualTo(VERSION);
      assertThat(refused.err())
          .contains("stopping cause=version exit-code=9")
          .contains("server version is lower than determined cluster version")
          .contains("this program serves 3.6.16, the cluster has version 3.7")
          .contains("etcdctl downgrade enable 3.6");
      cluster.start("a", "new", cluster.cluster("a"), OWN).awaitReady();
      cluster.awaitKey("a", "key", "kept");
    }
  }

  /**
   * Whether the data of the killed member has the entry with the new cluster version depends on
   * time: it refuses to start, or stops when it learns of the entry from its leader.
   */
  @Test
  void memberOlderThanItsClusterStops_V2() {
    try (ProcessCluster cluster = new ProcessCluster(directory)) {
      cluster.setting("acts-as-version", "3.6.16");
      cluster.startNew("a", "b", "c");
      cluster.process("a").awaitLine("set initial cluster version");
      for (String name : new String[] {"a", "b", "c"}) {
        cluster.process(name).stop();
        cluster.start(name, "new", cluster.cluster("a", "b", "c"), OWN).awaitReady();
      }
      cluster.process("b").awaitLine("updated cluster version");
      cluster.process("c").kill();
      cluster.start("c", "new", cluster.cluster("a", "b", "c"), OLD);
      NodeProcess old = cluster.process("c");
      assertThat(old.awaitExit()).as("%s", old).isEqualTo(VERSION);
      assertThat(old.err()).contains("stopping cause=version exit-code=9");
    }
  }

  @Test
  void incompatibleMemberCannotJoin_V2() {
    try (ProcessCluster cluster = new ProcessCluster(directory)) {
      cluster.startNew("a");
      cluster.process("a").awaitLine("set initial cluster version");
      cluster.runInTheEnd("a", "member", "add", "b", "--peer-urls=" + cluster.peerUrl("b"));
      NodeProcess old = cluster.start("b", "existing", cluster.cluster("a", "b"), OLD);
      String reason = "the joining program serves 3.6.16, the cluster has version 3.7";
      assertThat(old.awaitExit()).as("%s", old).isEqualTo(VERSION);
      assertThat(old.err()).contains("incompatible with current running cluster: " + reason);
      cluster.process("a").awaitLine("refused a member that wants to join");
      assertThat(cluster.process("a").err()).contains(reason);

      cluster.start("b", "existing", cluster.cluster("a", "b"), OWN).awaitReady();
      assertThat(cluster.members("a")).hasSize(2);
    }
  }

  @Test
  void membersOfDistantVersionsRefuseEachOther_V2() {
    try (ProcessCluster cluster = new ProcessCluster(directory)) {
      NodeProcess own = cluster.start("a", "new", cluster.cluster("a", "b"), OWN);
      NodeProcess distant =
          cluster.start("b", "new", cluster.cluster("a", "b"), "-Dtroupe.acts-as-version=3.9.0");
      for (NodeProcess process : new NodeProcess[] {own, distant}) {
        process.awaitLine("connection of another member refused: incompatible version");
        process.awaitLine("another member refuses the connection of this one");
      }
      assertThat(own.err()).contains("this member serves 3.7.1, the other one 3.9.0");
      assertThat(distant.err()).contains("this member serves 3.9.0, the other one 3.7.1");
    }
  }
}
