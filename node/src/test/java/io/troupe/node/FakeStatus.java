package io.troupe.node;

import io.troupe.model.NodeId;
import io.troupe.protocol.MemberStatus;
import java.util.HashSet;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** The status of a member that does not exist. */
public final class FakeStatus implements MemberStatus {
  /** The leader; NONE at first. */
  public NodeId leader = NodeId.NONE;

  /** Members that are connected; at first the member itself. */
  public final Set<NodeId> connected = new HashSet<>();

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
    return new CompletableFuture<>();
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
    return false;
  }
}
