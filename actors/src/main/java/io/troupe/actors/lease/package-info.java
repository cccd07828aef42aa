/**
 * Counts leases down on the leader. Entry class: {@link io.troupe.actors.lease.LeaseActor}. Imports
 * core, protocol, persistence and Pekko. See docs/components/lease.md.
 */
@NullMarked
package io.troupe.actors.lease;

import org.jspecify.annotations.NullMarked;
