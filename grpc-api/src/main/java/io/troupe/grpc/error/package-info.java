/**
 * Maps a refusal or a fault to the status that clients compare. Entry class: {@link
 * io.troupe.grpc.error.GrpcErrors}. Imports core.model and protocol. See
 * docs/components/gateway.md.
 */
@NullMarked
package io.troupe.grpc.error;

import org.jspecify.annotations.NullMarked;
