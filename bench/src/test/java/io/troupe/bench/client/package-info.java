/** Tests of {@code io.troupe.bench.client}; may import what it imports. See bench/README.md. */
@NullMarked
package io.troupe.bench.client;

import org.jspecify.annotations.NullMarked;
