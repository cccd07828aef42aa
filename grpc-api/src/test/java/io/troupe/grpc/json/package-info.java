/** Tests of io.troupe.grpc.json. See docs/components/http.md. */
@NullMarked
package io.troupe.grpc.json;

import org.jspecify.annotations.NullMarked;
