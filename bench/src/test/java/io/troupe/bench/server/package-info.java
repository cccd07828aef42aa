/** Tests of {@code io.troupe.bench.server}; may import what it imports. See bench/README.md. */
@NullMarked
package io.troupe.bench.server;

import org.jspecify.annotations.NullMarked;
