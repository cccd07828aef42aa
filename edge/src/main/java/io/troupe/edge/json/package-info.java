/**
 * The JSON gateway (5.3): paths, messages, splitting a body into objects, responses as they are
 * made. Entry class: {@link io.troupe.edge.json.JsonGateway}. Imports protobuf's JSON support,
 * edge.calls and grpc.error. See docs/components/http.md.
 */
@NullMarked
package io.troupe.edge.json;

import org.jspecify.annotations.NullMarked;
