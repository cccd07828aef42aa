package io.troupe.protocol;

import io.troupe.model.NodeId;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/**
 * What the raft and apply actors show of themselves to everybody, read without a message.
 * Thread-safe; figures read one after the other may be of different moments.
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

  /** When this member last learned of another leader than before, by System.nanoTime(). */
  OptionalLong leaderSinceNanos();

  /**
   * Whether this member has heard the leader that it knows, or a majority of all members if it
   * leads itself, without a break since a moment of {@link System#nanoTime}. True if it knows no
   * leader.
   */
  boolean isConnectedSince(long nanos);

  /**
   * Whether the connection from that member to this one has held since a moment of {@link
   * System#nanoTime}, whoever led meanwhile. True for this member itself.
   */
  boolean isConnectedSince(NodeId member, long nanos);

  /**
   * A future of the caller's own: completes as soon as this member knows a leader, at once if it
   * does. Whatever depends on it must be brief, or run elsewhere. Who waits no more completes or
   * cancels it, so that nothing is kept.
   */
  CompletableFuture<NodeId> awaitLeader();

  /** Highest index known to be committed; not below what {@link #applied} answered before. */
  long committed();

  /** Highest index that the state holds. */
  long applied();

  /** True while this member must not serve, because its state is not that of the leader. */
  boolean isCorrupt();
}
