package io.troupe.snapshot;

import io.troupe.model.NodeId;

/**
 * A follower lacks entries that the log no longer has, so it is sent a snapshot.
 *
 * @param to the follower
 * @param transfer number of the transfer, unique until the actors restart
 * @param term term of this leader
 * @param atLeast the snapshot covers at least this index
 */
public record SnapshotRequest(NodeId to, long transfer, long term, long atLeast) {}
