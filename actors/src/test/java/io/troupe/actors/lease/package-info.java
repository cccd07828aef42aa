/**
 * Tests of the lease actor. Entry class: {@link io.troupe.actors.lease.LeaseActorTest}. See
 * docs/components/lease.md.
 */
@NullMarked
package io.troupe.actors.lease;

import org.jspecify.annotations.NullMarked;
