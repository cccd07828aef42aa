package io.troupe.protocol;

import io.troupe.model.NodeId;

/**
 * A message between members.
 *
 * @param clusterId cluster of the sender; members of another cluster ignore the message
 * @param from sender
 * @param to receiver; an address may belong to another member by now
 * @param payload content
 */
public record PeerEnvelope(long clusterId, NodeId from, NodeId to, PeerPayload payload) {}
