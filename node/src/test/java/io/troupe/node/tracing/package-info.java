/** Traces as a collector gets them. */
@NullMarked
package io.troupe.node.tracing;

import org.jspecify.annotations.NullMarked;
