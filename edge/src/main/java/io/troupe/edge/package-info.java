/**
 * The client ports: they put together connections, gRPC calls, HTTP endpoints and the JSON gateway.
 * Entry class: {@link io.troupe.edge.GrpcServer}. Imports the packages below it and server. See
 * docs/components/gateway.md and docs/components/http.md.
 */
@NullMarked
package io.troupe.edge;

import org.jspecify.annotations.NullMarked;
