/**
 * The typed messages between actors, and the interfaces through which the gateway uses the member.
 * Entry class: {@link io.troupe.protocol.RaftCommand}. Imports core and Pekko's ActorRef. See
 * docs/architecture.md.
 */
@NullMarked
package io.troupe.protocol;

import org.jspecify.annotations.NullMarked;
