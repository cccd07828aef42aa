/**
 * Reads the configuration, wires the actors, runs the process. Entry class: {@link
 * io.troupe.node.NodeMain}; in the process of another program {@link io.troupe.node.RunningNode}.
 * May import everything. See docs/operations.md.
 */
@NullMarked
package io.troupe.node;

import org.jspecify.annotations.NullMarked;
