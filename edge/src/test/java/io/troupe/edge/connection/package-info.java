/**
 * Tests of the stages of a connection. Entry class: {@link
 * io.troupe.edge.connection.ClientConnectionsTest}.
 */
@NullMarked
package io.troupe.edge.connection;

import org.jspecify.annotations.NullMarked;
