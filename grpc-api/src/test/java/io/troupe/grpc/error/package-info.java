/**
 * Tests of the statuses. Entry class: {@link io.troupe.grpc.error.GrpcErrorsTest}. Imports what the
 * package under test imports. See docs/rooms/gateway.md.
 */
@NullMarked
package io.troupe.grpc.error;

import org.jspecify.annotations.NullMarked;
