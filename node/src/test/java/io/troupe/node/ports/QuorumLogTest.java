package io.troupe.node.ports;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.protocol.ClusterView;
import io.troupe.raft.membership.Membership;
import io.troupe.server.FakeStatus;
import io.troupe.testing.LoggedLines;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class QuorumLogTest {
  private static final NodeId ONE = new NodeId(0xa1);
  private static final NodeId TWO = new NodeId(0xa2);
  private static final NodeId THREE = new NodeId(0xa3);

  private static final ClusterView CLUSTER =
      new ClusterView(
          new Membership(1, Set.of(ONE, TWO, THREE), Set.of(), Set.of(), Set.of(), Set.of()),
          new TreeMap<>(
              Map.of(
                  ONE,
                  List.of("http://a:1"),
                  TWO,
                  List.of("http://b:1"),
                  THREE,
                  List.of("http://c:1"))),
          new TreeMap<>(Map.of(TWO, new MemberAttributes(TWO, "n2", List.of()))));

  private final LoggedLines lines = new LoggedLines(QuorumLog.class);
  private final FakeStatus status = new FakeStatus(ONE);
  private long nowNanos = 1_000_000_000;
  private final QuorumLog log = new QuorumLog(status, () -> CLUSTER, () -> nowNanos);

  @AfterEach
  void close() {
    lines.close();
  }

  private List<Level> levels() {
    return lines.lines().stream().map(line -> line.getLevel()).toList();
  }

  private String last() {
    return lines.lines().get(lines.lines().size() - 1).getFormattedMessage();
  }

  @Test
  void lostQuorumIsOneErrorWithMissingMembersAndOneLineWhenItIsBack() {
    status.leader = TWO;
    log.check();
    status.leader = NodeId.NONE;
    for (int i = 0; i < 5; i++) {
      log.check();
      nowNanos += 1_000_000_000;
    }
    assertThat(levels()).containsExactly(Level.ERROR);
    assertThat(last())
        .startsWith("quorum lost, ")
        .endsWith("voters=3 connected=1 missing=[n2 (a2, http://b:1), ? (a3, http://c:1)]");
    status.connected.add(TWO);
    status.leader = ONE;
    log.check();
    log.check();
    assertThat(levels()).containsExactly(Level.ERROR, Level.INFO);
    assertThat(last()).startsWith("quorum restored leader-id=a1 took=PT5S");
  }

  @Test
  void electionWithConnectedMajorityIsNotALostQuorum() {
    status.leader = TWO;
    log.check();
    status.leader = NodeId.NONE;
    status.connected.add(THREE);
    log.check();
    assertThat(lines.lines()).isEmpty();
    // It is lost once the other members are gone too.
    status.connected.remove(THREE);
    log.check();
    assertThat(levels()).containsExactly(Level.ERROR);
  }

  @Test
  void firstStartWithoutMajorityIsWarning() {
    log.check();
    log.check();
    assertThat(levels()).containsExactly(Level.WARN);
    assertThat(last()).startsWith("waiting for a majority of the voters");
    status.leader = ONE;
    log.check();
    assertThat(last()).startsWith("quorum reached ");
  }
}
