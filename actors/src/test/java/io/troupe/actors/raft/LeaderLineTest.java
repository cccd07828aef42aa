package io.troupe.actors.raft;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.troupe.model.NodeId;
import io.troupe.raft.RaftRole;
import io.troupe.raft.RaftStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** The line about a term's leader. */
class LeaderLineTest {
  private static final NodeId SELF = new NodeId(0x8e9e05c52164694dL);
  private static final NodeId OTHER = new NodeId(0x1a);

  private final Logger logger = (Logger) LoggerFactory.getLogger(LeaderLine.class);
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final LeaderLine line = new LeaderLine(SELF);

  @BeforeEach
  void listen() {
    lines.start();
    logger.addAppender(lines);
  }

  @AfterEach
  void stop() {
    logger.detachAppender(lines);
  }

  private void changed(RaftRole role, long term, NodeId leader) {
    line.roleChanged(new RaftStatus(role, term, leader, 0, 0, 0, 1));
  }

  @Test
  void B6_eachTermsLeaderIsToldOnce() {
    changed(RaftRole.FOLLOWER, 1, NodeId.NONE);
    changed(RaftRole.CANDIDATE, 2, NodeId.NONE);
    changed(RaftRole.LEADER, 2, SELF);
    changed(RaftRole.FOLLOWER, 2, NodeId.NONE);
    changed(RaftRole.LEADER, 2, SELF);
    changed(RaftRole.FOLLOWER, 3, OTHER);
    assertThat(lines.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .containsExactly(
            "raft.node: 8e9e05c52164694d elected leader 8e9e05c52164694d at term 2",
            "raft.node: 8e9e05c52164694d elected leader 1a at term 3");
  }
}
