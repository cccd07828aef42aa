/**
 * gRPC over Pekko HTTP: framing, unary and streaming calls, the port. Entry class: {@link
 * io.troupe.grpc.http.GrpcServer}. Imports pekko-http, grpc.error and grpc.service. See
 * docs/rooms/gateway.md.
 */
@NullMarked
package io.troupe.grpc.http;

import org.jspecify.annotations.NullMarked;
