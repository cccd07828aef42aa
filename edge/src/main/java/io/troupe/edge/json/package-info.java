/**
 * JSON in place of protobuf (5.3): paths, messages, splitting a body into objects. No transport.
 * Entry class: {@link io.troupe.edge.json.JsonMessages}. Imports protobuf's JSON support and
 * grpc.error. See docs/components/http.md.
 */
@NullMarked
package io.troupe.edge.json;

import org.jspecify.annotations.NullMarked;
