/**
 * The client port over Pekko HTTP: gRPC's framing and calls, and the HTTP/1.1 endpoints for health,
 * metrics and JSON. Entry class: {@link io.troupe.grpc.http.GrpcServer}. Imports pekko-http,
 * metrics, grpc.error, grpc.json and grpc.service. See docs/components/gateway.md and
 * docs/components/http.md.
 */
@NullMarked
package io.troupe.grpc.http;

import org.jspecify.annotations.NullMarked;
