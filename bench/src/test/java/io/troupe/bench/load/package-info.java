/** Tests of {@code io.troupe.bench.load}; may import what it imports. See bench/README.md. */
@NullMarked
package io.troupe.bench.load;

import org.jspecify.annotations.NullMarked;
