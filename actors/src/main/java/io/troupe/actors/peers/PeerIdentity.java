package io.troupe.actors.peers;

import io.troupe.model.NodeId;

/**
 * Identity of this member for other members.
 *
 * @param url where other members reach it: the first of its peer URLs as text
 */
public record PeerIdentity(long clusterId, NodeId memberId, String url) {}
