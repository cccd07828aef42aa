package io.troupe.tests.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.tests.process.Clusters;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the log of a member says when its cluster loses the quorum. */
@Clusters
@Tag("full")
@HeapIndependent
class QuorumLogIT {
  @Test
  void lostQuorumIsOneErrorThatNamesTheMissingMembers() throws IOException {
    Path directory = Files.createTempDirectory(Path.of("target"), "quorum-");
    try (ProcessCluster cluster = new ProcessCluster(directory)) {
      cluster.startNew("n1", "n2", "n3");
      NodeProcess left = cluster.process("n1");
      cluster.process("n2").kill();
      cluster.process("n3").kill();
      String lost = left.awaitLine("quorum lost");
      assertThat(lost)
          .contains("ERROR", "voters=3 connected=1")
          .contains("n2 (", cluster.peerUrl("n2"), "n3 (", cluster.peerUrl("n3"));
      assertThat(left.awaitLine("peer became unresponsive"))
          .containsPattern("remote-peer-name=n[23] remote-peer-url=http://127\\.0\\.0\\.1:\\d+");
      cluster.restart("n2");
      assertThat(left.awaitLine("quorum restored"))
          .containsPattern("leader-name=n[12] leader-url=http:\\S+ took=\\d+(\\.\\d+)?s");
      List<String> errors = left.err().lines().filter(line -> line.contains(" ERROR ")).toList();
      assertThat(errors).containsExactly(lost);
      assertThat(left.stop()).isEqualTo(143);
      assertThat(left.err()).contains("stopping cause=signal");
    }
  }
}
