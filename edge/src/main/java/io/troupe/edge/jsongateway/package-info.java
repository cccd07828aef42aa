/**
 * The JSON gateway (5.3): calls whose messages are JSON, over HTTP/1.1 and WebSockets. Entry class:
 * {@link io.troupe.edge.jsongateway.JsonGateway}. Imports edge.calls and edge.json. See
 * docs/components/http.md.
 */
@NullMarked
package io.troupe.edge.jsongateway;

import org.jspecify.annotations.NullMarked;
