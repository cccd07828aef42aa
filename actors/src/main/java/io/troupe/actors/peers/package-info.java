/**
 * Connections between members: the peer port and links to other members. Entry class: {@link
 * io.troupe.actors.peers.PeerNetwork}. Imports core, protocol, metrics and Pekko. See
 * docs/components/peers.md.
 */
@NullMarked
package io.troupe.actors.peers;

import org.jspecify.annotations.NullMarked;
