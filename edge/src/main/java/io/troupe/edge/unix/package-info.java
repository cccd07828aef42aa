/**
 * Listens on unix sockets, which Pekko's TCP cannot: connections as streams of bytes. Entry class:
 * {@link io.troupe.edge.unix.UnixListener}. Imports the JDK, Pekko Streams and slf4j only.
 * Explained in docs/components/http.md.
 */
@NullMarked
package io.troupe.edge.unix;

import org.jspecify.annotations.NullMarked;
