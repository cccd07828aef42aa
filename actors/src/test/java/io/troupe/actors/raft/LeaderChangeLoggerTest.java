package io.troupe.actors.raft;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import io.troupe.raft.RaftRole;
import io.troupe.raft.RaftStatus;
import io.troupe.testing.LoggedLines;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The log line for the leader of a term. */
class LeaderChangeLoggerTest {
  private static final NodeId SELF = new NodeId(0x8e9e05c52164694dL);
  private static final NodeId OTHER = new NodeId(0x1a);

  private final LoggedLines log = new LoggedLines(LeaderChangeLogger.class);
  private final LeaderChangeLogger line = new LeaderChangeLogger(SELF);

  @AfterEach
  void stop() {
    log.close();
  }

  private void changed(RaftRole role, long term, NodeId leader) {
    line.roleChanged(new RaftStatus(role, term, leader, 0, 0, 0, 1));
  }

  @Test
  void leaderOfEachTermIsLoggedOnce_B6() {
    changed(RaftRole.FOLLOWER, 1, NodeId.NONE);
    changed(RaftRole.CANDIDATE, 2, NodeId.NONE);
    changed(RaftRole.LEADER, 2, SELF);
    changed(RaftRole.FOLLOWER, 2, NodeId.NONE);
    changed(RaftRole.LEADER, 2, SELF);
    changed(RaftRole.FOLLOWER, 3, OTHER);
    assertThat(log.texts())
        .containsExactly(
            "INFO raft.node: 8e9e05c52164694d elected leader 8e9e05c52164694d at term 2",
            "INFO raft.node: 8e9e05c52164694d elected leader 1a at term 3");
  }
}
