package io.troupe.protocol;

import io.troupe.raft.ReplicationStatus;
import io.troupe.raft.membership.MembershipRules;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Input of membership checks in addition to the state: connectivity and progress of the members.
 * Current values, not those of the log. Thread-safe.
 */
public interface RaftQueries {
  /** Replication status if this member leads; null otherwise. */
  CompletionStage<@Nullable ReplicationStatus> replication();

  /**
   * Connected members, as seen by the leader; if no leader replies, only this member. Never fails.
   */
  CompletionStage<MembershipRules.Liveness> liveness();
}
