/**
 * gRPC calls: framing, metadata, interceptors, the methods of the services. Entry class: {@link
 * io.troupe.edge.calls.GrpcHandler}. Imports edge.connection, edge.engine, grpc.error and server.
 * See docs/components/gateway.md.
 */
@NullMarked
package io.troupe.edge.calls;

import org.jspecify.annotations.NullMarked;
