/**
 * Leases: the granted ones (replicated) and the expired ones (counted by the leader alone). Entry
 * classes: {@link io.troupe.lease.LeaseBook}, {@link io.troupe.lease.LeaseCore}. Imports model
 * alone. See docs/components/lease.md.
 */
@NullMarked
package io.troupe.lease;

import org.jspecify.annotations.NullMarked;
