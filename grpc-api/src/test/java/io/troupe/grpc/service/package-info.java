/**
 * Tests of the services against actors and peers that the test controls. Entry class: {@link
 * io.troupe.grpc.service.FakeMember}. See docs/components/membership.md.
 */
@NullMarked
package io.troupe.grpc.service;

import org.jspecify.annotations.NullMarked;
