/** Tests of io.troupe.metrics. See docs/metrics.md. */
@NullMarked
package io.troupe.metrics;

import org.jspecify.annotations.NullMarked;
