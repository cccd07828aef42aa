package io.troupe.protocol;

import io.troupe.model.NodeId;

/**
 * A message between members in flight.
 *
 * @param clusterId cluster of the sender; another cluster's members ignore the message
 * @param from sender
 * @param to whom it is for; an address may meanwhile belong to another member
 * @param fromUrl first advertised peer URL of the sender: a member whose log is behind does not
 *     know those who joined later, but has to answer them
 * @param payload what is said
 */
public record PeerEnvelope(
    long clusterId, NodeId from, NodeId to, String fromUrl, PeerPayload payload)
    implements PeerFrame {}
