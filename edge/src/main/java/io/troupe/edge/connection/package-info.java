/**
 * One client connection from its first byte to its last: limits, timeouts, TLS, the memory of its
 * calls. Entry class: {@link io.troupe.edge.connection.ClientPort}. Imports edge.engine,
 * edge.frames and metrics. See docs/components/http.md.
 */
@NullMarked
package io.troupe.edge.connection;

import org.jspecify.annotations.NullMarked;
