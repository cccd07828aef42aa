package io.troupe.actors.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import io.troupe.raft.RaftRole;
import io.troupe.raft.RaftStatus;
import io.troupe.raft.membership.Membership;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class PublishedStatusTest {
  private static final NodeId SELF = new NodeId(1);
  private static final NodeId LEADER = new NodeId(2);

  private final PublishedStatus status = new PublishedStatus(1, SELF, 0, () -> {});

  private static RaftStatus led(NodeId leader) {
    return new RaftStatus(RaftRole.FOLLOWER, 1, leader, 0, 0, 0, 1);
  }

  /** The actors publish their status independently. */
  @Test
  void appliedIndexCountsAsCommitted() {
    status.raft(new RaftStatus(RaftRole.FOLLOWER, 1, LEADER, 7, 0, 7, 1));
    assertThat(status.committed()).isEqualTo(7);
    status.applied(9);
    assertThat(status.committed()).isEqualTo(9);
  }

  @Test
  void waitForLeaderCompletesOnce() {
    CompletableFuture<NodeId> one = status.awaitLeader();
    status.raft(led(NodeId.NONE));
    assertThat(one).isNotDone();
    status.raft(led(LEADER));
    assertThat(one).isCompletedWithValue(LEADER);
    assertThat(status.awaitLeader()).isCompletedWithValue(LEADER);
  }

  @Test
  void waitAfterLossOfLeaderCompletesWithNextLeader() {
    status.raft(led(LEADER));
    status.raft(led(NodeId.NONE));
    CompletableFuture<NodeId> one = status.awaitLeader();
    assertThat(one).isNotDone();
    status.raft(led(new NodeId(3)));
    assertThat(one).isCompletedWithValue(new NodeId(3));
  }

  @Test
  void followerIsConnectedWhileItReceivesFromLeader_Q7() {
    heard((member, nanos) -> member.equals(LEADER) && nanos >= 100);
    assertThat(status.isConnectedSince(1)).as("no leader").isTrue();
    status.raft(led(LEADER));
    assertThat(status.isConnectedSince(99)).isFalse();
    assertThat(status.isConnectedSince(100)).isTrue();
    status.raft(led(new NodeId(3)));
    assertThat(status.isConnectedSince(100)).isFalse();
  }

  @Test
  void leaderIsConnectedWhileItReceivesFromMajority_Q7() {
    status.raft(led(SELF));
    heard((member, nanos) -> false);
    assertThat(status.isConnectedSince(1)).as("the members are unknown").isTrue();
    status.membership(Membership.ofVoters(SELF));
    assertThat(status.isConnectedSince(1)).as("alone").isTrue();
    status.membership(Membership.ofVoters(SELF, LEADER, new NodeId(3)));
    assertThat(status.isConnectedSince(1)).isFalse();
    heard((member, nanos) -> member.equals(LEADER));
    assertThat(status.isConnectedSince(1)).isTrue();
    status.membership(Membership.ofVoters(SELF, LEADER, new NodeId(3), new NodeId(4)));
    assertThat(status.isConnectedSince(1)).isFalse();
  }

  @Test
  void cancelledWaitIsForgotten() {
    CompletableFuture<NodeId> one = status.awaitLeader();
    assertThat(status.waitingForLeader()).isEqualTo(1);
    one.cancel(false);
    assertThat(status.waitingForLeader()).isZero();
    CompletableFuture<NodeId> next = status.awaitLeader();
    status.raft(led(LEADER));
    assertThat(next).isDone();
    assertThat(status.waitingForLeader()).isZero();
  }

  private void heard(PublishedStatus.Since heard) {
    status.contacts(new PublishedStatus.Contacts(heard, (member, nanos) -> false));
  }
}
