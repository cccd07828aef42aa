/** Traces that a collector receives. */
@NullMarked
package io.troupe.node.tracing;

import org.jspecify.annotations.NullMarked;
