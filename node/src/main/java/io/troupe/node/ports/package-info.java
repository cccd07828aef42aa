/**
 * The member's client and peer ports, from settings to listeners. Entry classes: {@link
 * io.troupe.node.ports.ClientPorts}, {@link io.troupe.node.ports.Peers}. See
 * docs/components/http.md and docs/components/peers.md.
 */
@NullMarked
package io.troupe.node.ports;

import org.jspecify.annotations.NullMarked;
