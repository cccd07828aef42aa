/**
 * Listens on unix sockets, which Pekko's TCP cannot: connections as streams of bytes. Entry class:
 * {@link io.troupe.grpc.unix.UnixListener}. Imports the JDK, Pekko Streams and slf4j only.
 * Explained in docs/components/http.md.
 */
@NullMarked
package io.troupe.grpc.unix;

import org.jspecify.annotations.NullMarked;
