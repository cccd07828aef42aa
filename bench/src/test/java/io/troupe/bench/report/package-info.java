/** Tests of {@code io.troupe.bench.report}; may import what it imports. See bench/README.md. */
@NullMarked
package io.troupe.bench.report;

import org.jspecify.annotations.NullMarked;
