package io.troupe.actors.peers;

import io.troupe.model.NodeId;

/**
 * Who this member is to others.
 *
 * @param url where others reach it: the first of its peer URLs as text
 */
public record PeerIdentity(long clusterId, NodeId memberId, String url) {}
