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
  private final CompletableFuture<NodeId> firstLeader = new CompletableFuture<>();
  private volatile RaftStatus raft = UNKNOWN;
  private volatile long applied;

  PublishedStatus(long clusterId, NodeId memberId, long applied) {
    this.clusterId = clusterId;
    this.memberId = memberId;
    this.applied = applied;
  }

  void raft(RaftStatus status) {
    raft = status;
    if (!status.leader().isNone() && !firstLeader.isDone()) {
      firstLeader.complete(status.leader());
    }
  }

  void applied(long index) {
    applied = index;
  }

  /** Completes when this member knows a leader for the first time. */
  public CompletionStage<NodeId> firstLeader() {
    return firstLeader;
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
