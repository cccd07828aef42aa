/**
 * Tests of the services against actors and peers that the test controls. Entry class: {@link
 * io.troupe.server.FakeMember}. See docs/components/membership.md.
 */
@NullMarked
package io.troupe.server;

import org.jspecify.annotations.NullMarked;
