package io.troupe.raft;

import io.troupe.model.NodeId;

/**
 * A message that is sent after its persist is durable.
 *
 * @param to receiver
 * @param message message to send
 */
public record Outgoing(NodeId to, PeerMessage message) {}
