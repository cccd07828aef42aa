package io.troupe.protocol;

import io.troupe.model.NodeId;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/**
 * Status that the raft and apply actors publish, read without a message. Thread-safe; values that
 * are read one after the other may be of different moments.
 */
public interface MemberStatus {
  /** Identity of the cluster (ID2). */
  long clusterId();

  /** Identity of this member (ID1). */
  NodeId memberId();

  /** Current term of this member. */
  long term();

  /** The leader this member knows, or {@link NodeId#NONE}. */
  NodeId leader();

  /** Time when this member last learned of a new leader, by System.nanoTime(). */
  OptionalLong leaderSinceNanos();

  /**
   * True if this member has heard its leader without a gap since a moment of {@link
   * System#nanoTime}, or, if it leads itself, a majority of all members. True if it knows no
   * leader.
   */
  boolean isConnectedSince(long nanos);

  /**
   * True if the connection from that member to this one has existed since a moment of {@link
   * System#nanoTime}, regardless of the leader. True for this member itself.
   */
  boolean isConnectedSince(NodeId member, long nanos);

  /**
   * Returns a new future that completes when this member knows a leader, immediately if it already
   * does. Dependent actions must be short, or run on another executor. A caller that no longer
   * waits completes or cancels the future, so that it is released.
   */
  CompletableFuture<NodeId> awaitLeader();

  /** Highest index known to be committed; never below an earlier result of {@link #applied}. */
  long committed();

  /** The applied index. */
  long applied();

  /**
   * True while this member must not serve requests, because its state differs from the leader's.
   */
  boolean isCorrupt();
}
