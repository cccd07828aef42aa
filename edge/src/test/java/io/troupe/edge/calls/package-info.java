/** Tests of gRPC calls. Entry class: {@link io.troupe.edge.calls.GrpcFramesTest}. */
@NullMarked
package io.troupe.edge.calls;

import org.jspecify.annotations.NullMarked;
