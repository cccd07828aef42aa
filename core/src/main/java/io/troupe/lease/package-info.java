/**
 * Leases: which are granted (replicated) and which have run out (counted by the leader alone).
 * Entry classes: {@link io.troupe.lease.LeaseBook}, {@link io.troupe.lease.LeaseCountdown}. Imports
 * model alone. See docs/components/lease.md.
 */
@NullMarked
package io.troupe.lease;

import org.jspecify.annotations.NullMarked;
