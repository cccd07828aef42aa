package io.troupe.simulation.world;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.raft.RaftRole;
import io.troupe.raft.RaftState;
import io.troupe.raft.RaftStatus;
import io.troupe.raft.membership.Membership;
import io.troupe.simulation.check.Violation;
import io.troupe.simulation.history.History;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests which histories violate the rules about all members together. */
class ClusterRulesTest {
  private static final NodeId ONE = new NodeId(1);
  private static final NodeId FOUR = new NodeId(4);

  private final ClusterRules rules = new ClusterRules(new History(), new Coverage());

  private static SimDisk log(long... terms) {
    List<Entry> entries = new ArrayList<>();
    for (long term : terms) {
      entries.add(new Entry(term, entries.size() + 1, Entry.Kind.NOOP, Bytes.EMPTY));
    }
    SimDisk disk = new SimDisk();
    disk.fill(
        new RaftState(
            ONE,
            new HardState(terms[terms.length - 1], ONE, 0),
            Membership.EMPTY,
            0,
            0,
            List.copyOf(entries),
            0));
    return disk;
  }

  private static RaftStatus leading(long term, long commit, long last) {
    return new RaftStatus(RaftRole.LEADER, term, ONE, commit, commit, last, 1);
  }

  /** The leader of term 3 commits three entries, and all of them are applied. */
  private void termThreeCommits() {
    SimDisk log = log(1, 3, 3);
    rules.elected(ONE, 3, log);
    rules.counted(ONE, leading(3, 0, 3), leading(3, 3, 3), log);
    for (long index = 1; index <= 3; index++) {
      rules.applying(ONE, new Entry(index == 1 ? 1 : 3, index, Entry.Kind.NOOP, Bytes.EMPTY), null);
    }
  }

  @Test
  void leaderOfLaterTermMustHaveCommittedEntries() {
    termThreeCommits();
    rules.elected(FOUR, 4, log(1, 3, 3, 4));
    assertThatThrownBy(() -> rules.elected(FOUR, 5, log(1, 3)))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("leader lacks a committed entry");
  }

  /** Its votes were granted before the commits, and a pause delayed them. */
  @Test
  void leaderOfEarlierTermNeedsNoLaterEntries() {
    termThreeCommits();
    rules.elected(FOUR, 2, log(1, 2));
  }
}
