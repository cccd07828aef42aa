package io.troupe.protocol;

import io.troupe.raft.ReplicationStatus;
import org.jspecify.annotations.Nullable;

/**
 * Replication status of a leader.
 *
 * @param status a copy; null if this member does not lead
 */
public record ReplicationReply(@Nullable ReplicationStatus status) {}
