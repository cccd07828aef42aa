/**
 * Reads the configuration, wires the actors, runs the process. Entry class: {@link
 * io.troupe.node.NodeMain}. May import everything. See docs/operations.md.
 */
@NullMarked
package io.troupe.node;

import org.jspecify.annotations.NullMarked;
