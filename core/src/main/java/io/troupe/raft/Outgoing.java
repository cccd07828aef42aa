package io.troupe.raft;

import io.troupe.model.NodeId;

/**
 * A message that waits for the disk.
 *
 * @param to receiver
 * @param message what to send
 */
public record Outgoing(NodeId to, PeerMessage message) {}
