/**
 * Tests of unix sockets as connections. Entry class: {@link io.troupe.edge.unix.UnixListenerTest}.
 * Imports what the package under test imports, and JUnit. Explained in docs/components/http.md.
 */
@NullMarked
package io.troupe.edge.unix;

import org.jspecify.annotations.NullMarked;
