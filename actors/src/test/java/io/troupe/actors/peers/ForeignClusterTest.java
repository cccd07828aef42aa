package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import io.troupe.testing.FreePort;
import io.troupe.testing.LoggedLines;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A member whose peer URLs belong to members of another cluster. */
class ForeignClusterTest {
  private static final long MINE = 79;
  private static final long OTHER = 80;

  private final int[] ports = {FreePort.next(), FreePort.next(), FreePort.next()};

  private TestPeer peer(long clusterId, int id) {
    PeerDirectory members =
        TestPeer.members(TestPeer.url(ports[0]), TestPeer.url(ports[1]), TestPeer.url(ports[2]));
    return new TestPeer(clusterId, id, ports[id - 1], members);
  }

  @Test
  void clusterWithoutPossibleQuorumIsPublishedOnce() throws Exception {
    try (TestPeer one = peer(MINE, 1);
        TestPeer two = peer(OTHER, 2);
        TestPeer three = peer(OTHER, 3)) {
      Map<String, Long> expected =
          Map.of(TestPeer.url(ports[1]), OTHER, TestPeer.url(ports[2]), OTHER);
      assertThat(one.foreign.get(20, TimeUnit.SECONDS)).isEqualTo(expected);
      assertThat(two.foreign).isNotDone();
      assertThat(three.foreign).isNotDone();
    }
  }

  @Test
  void memberThatHearsItsClusterContinues() {
    LoggedLines lines = new LoggedLines(PeerLink.class);
    try (lines;
        TestPeer one = peer(MINE, 1);
        TestPeer two = peer(MINE, 2)) {
      two.untilItFlows(new NodeId(1), one, 1);
      // Without this cluster's member, one foreign URL of two would make a quorum impossible.
      one.directory.replace(
          Map.of(
              new NodeId(1), List.of(TestPeer.url(ports[0])),
              new NodeId(3), List.of(TestPeer.url(ports[2]))),
          Set.of());
      try (TestPeer three = peer(OTHER, 3)) {
        Awaitility.await()
            .until(() -> lines.texts().stream().anyMatch(line -> line.contains("another cluster")));
        Awaitility.await().until(() -> three.network.incoming() == 0);
        assertThat(one.foreign).isNotDone();
      }
    }
  }
}
