/**
 * Transport between members: Pekko Artery to actors addressed by path from the peer URL. Entry
 * class: {@link io.troupe.actors.peers.ArteryPeers}. Imports core, protocol and Pekko. See
 * docs/components/peers.md.
 */
@NullMarked
package io.troupe.actors.peers;

import org.jspecify.annotations.NullMarked;
