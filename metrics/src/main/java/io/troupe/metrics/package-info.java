/**
 * What a member counts and measures of itself, and how that is shown to Prometheus. Entry class:
 * {@link io.troupe.metrics.MemberMetrics}. Imports the Prometheus client, which nobody else sees.
 * See docs/metrics.md.
 */
@NullMarked
package io.troupe.metrics;

import org.jspecify.annotations.NullMarked;
