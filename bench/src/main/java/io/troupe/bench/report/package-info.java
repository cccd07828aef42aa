/**
 * Figures and their presentation: cells, medians over rounds, ratios, Markdown. Entry class: {@link
 * io.troupe.bench.report.Comparison}. Imports nothing of the other packages. See bench/README.md.
 */
@NullMarked
package io.troupe.bench.report;

import org.jspecify.annotations.NullMarked;
