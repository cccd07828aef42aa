package io.troupe.protocol;

import io.troupe.raft.ReplicationStatus;
import io.troupe.raft.membership.MembershipRules;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * What checks of a membership change must know besides the state: who is up, and how far. Of now,
 * not of the log. Thread-safe.
 */
public interface RaftQueries {
  /** What this member knows of the others if it leads; null if it does not. */
  CompletionStage<@Nullable ReplicationStatus> replication();

  /**
   * Who is connected, as the leader sees it; if no leader answers, this member alone. Never fails.
   */
  CompletionStage<MembershipRules.Liveness> liveness();
}
