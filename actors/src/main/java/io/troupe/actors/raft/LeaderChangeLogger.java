package io.troupe.actors.raft;

import io.troupe.model.NodeId;
import io.troupe.raft.RaftStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs one line for each term in which this member learns of a leader, with the text that scripts
 * wait for (B6).
 *
 * @source etcd's raft.node
 */
final class LeaderChangeLogger {
  private static final Logger LOG = LoggerFactory.getLogger(LeaderChangeLogger.class);

  private final String self;
  private long publishedTerm;

  LeaderChangeLogger(NodeId self) {
    this.self = Long.toHexString(self.value());
  }

  void roleChanged(RaftStatus status) {
    if (status.leader().isNone() || status.term() == publishedTerm) {
      return;
    }
    publishedTerm = status.term();
    String leader = Long.toHexString(status.leader().value());
    LOG.info("raft.node: {} elected leader {} at term {}", self, leader, publishedTerm);
  }
}
