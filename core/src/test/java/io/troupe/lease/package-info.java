/**
 * Tests of io.troupe.lease. Entry class: {@link io.troupe.lease.LeaseCountdownTest}. Imports core
 * and the test libraries. See docs/components/lease.md.
 */
@NullMarked
package io.troupe.lease;

import org.jspecify.annotations.NullMarked;
