/**
 * Tests of the transport between members. Entry class: {@link
 * io.troupe.actors.peers.SocketPeersTest}. See docs/components/peers.md.
 */
@NullMarked
package io.troupe.actors.peers;

import org.jspecify.annotations.NullMarked;
