package io.troupe.protocol;

import io.troupe.raft.ReplicationStatus;
import org.jspecify.annotations.Nullable;

/**
 * What a leader knows of the others.
 *
 * @param status null if this member does not lead
 */
public record ReplicationReply(@Nullable ReplicationStatus status) {}
