package io.troupe.server;

import io.troupe.model.NodeId;
import io.troupe.protocol.MemberStatus;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** The status of a member that does not exist. */
public final class FakeStatus implements MemberStatus {
  /** The leader; NONE at first. */
  public volatile NodeId leader = NodeId.NONE;

  /** Whether its state differs from the leader's. */
  public volatile boolean corrupt;

  /** Members that are connected; at first the member itself. */
  public final Set<NodeId> connected = ConcurrentHashMap.newKeySet();

  private final NodeId self;

  /** A member of cluster 1. */
  public FakeStatus(NodeId self) {
    this.self = self;
    connected.add(self);
  }

  @Override
  public long clusterId() {
    return 1;
  }

  @Override
  public NodeId memberId() {
    return self;
  }

  @Override
  public long term() {
    return 1;
  }

  @Override
  public NodeId leader() {
    return leader;
  }

  @Override
  public OptionalLong leaderSinceNanos() {
    return OptionalLong.empty();
  }

  @Override
  public boolean isConnectedSince(long nanos) {
    return true;
  }

  @Override
  public boolean isConnectedSince(NodeId member, long nanos) {
    return connected.contains(member);
  }

  @Override
  public CompletableFuture<NodeId> awaitLeader() {
    NodeId now = leader;
    return now.isNone() ? new CompletableFuture<>() : CompletableFuture.completedFuture(now);
  }

  @Override
  public long committed() {
    return 1;
  }

  @Override
  public long applied() {
    return 1;
  }

  @Override
  public boolean isCorrupt() {
    return corrupt;
  }
}
