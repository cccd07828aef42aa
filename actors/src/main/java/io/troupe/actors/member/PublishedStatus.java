package io.troupe.actors.member;

import io.troupe.model.NodeId;
import io.troupe.protocol.MemberStatus;
import io.troupe.raft.RaftRole;
import io.troupe.raft.RaftStatus;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * What the raft and apply rooms last said of themselves. Written by one thread each, read by any.
 */
public final class PublishedStatus implements MemberStatus {
  private static final RaftStatus UNKNOWN =
      new RaftStatus(RaftRole.FOLLOWER, 0, NodeId.NONE, 0, 0, 0, 1);

  private final long clusterId;
  private final NodeId memberId;
  private final Object leaderLock = new Object();
  private CompletableFuture<NodeId> leaderKnown = new CompletableFuture<>();
  private volatile RaftStatus raft = UNKNOWN;
  private volatile long applied;

  PublishedStatus(long clusterId, NodeId memberId, long applied) {
    this.clusterId = clusterId;
    this.memberId = memberId;
    this.applied = applied;
  }

  void raft(RaftStatus status) {
    boolean moved = !status.leader().equals(raft.leader());
    raft = status;
    if (moved) {
      tellLeader(status.leader());
    }
  }

  private void tellLeader(NodeId leader) {
    CompletableFuture<NodeId> waiting;
    synchronized (leaderLock) {
      waiting = leaderKnown;
      if (leader.isNone()) {
        leaderKnown = new CompletableFuture<>();
        return;
      }
      if (waiting.isDone()) {
        leaderKnown = CompletableFuture.completedFuture(leader);
      }
    }
    // Outside of the lock: whoever waits goes on here.
    waiting.complete(leader);
  }

  void applied(long index) {
    applied = index;
  }

  @Override
  public CompletionStage<NodeId> whenLeaderKnown() {
    synchronized (leaderLock) {
      return leaderKnown;
    }
  }

  @Override
  public long clusterId() {
    return clusterId;
  }

  @Override
  public NodeId memberId() {
    return memberId;
  }

  @Override
  public long term() {
    return raft.term();
  }

  @Override
  public NodeId leader() {
    return raft.leader();
  }

  @Override
  public long committed() {
    return raft.commit();
  }

  @Override
  public long applied() {
    return applied;
  }
}
