/**
 * Reusable attacks of clients on a member, and the service that a well-behaved client gets
 * meanwhile. Entry classes: {@link io.troupe.tests.hostile.Attack} and {@link
 * io.troupe.tests.hostile.WellBehavedClient}. Imports raw frames of malformed and processes of
 * process. See docs/components/gateway.md.
 */
@NullMarked
package io.troupe.tests.hostile;

import org.jspecify.annotations.NullMarked;
