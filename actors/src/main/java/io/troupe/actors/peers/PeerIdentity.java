package io.troupe.actors.peers;

import io.troupe.model.NodeId;

/**
 * Who this member is to others.
 *
 * @param url first advertised peer URL
 */
public record PeerIdentity(long clusterId, NodeId memberId, String url) {}
