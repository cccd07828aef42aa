/**
 * Metrics of a member and their export to Prometheus. Entry class: {@link
 * io.troupe.metrics.MemberMetrics}. Imports the Prometheus client, which no other module imports.
 * See docs/metrics.md.
 */
@NullMarked
package io.troupe.metrics;

import org.jspecify.annotations.NullMarked;
