/**
 * Tests of framing and of the port's stages. Entry class: {@link
 * io.troupe.grpc.http.GrpcFramesTest}. See docs/components/gateway.md.
 */
@NullMarked
package io.troupe.grpc.http;

import org.jspecify.annotations.NullMarked;
