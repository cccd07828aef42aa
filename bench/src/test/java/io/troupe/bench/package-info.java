/** Tests of {@code io.troupe.bench}; may import what it imports. See bench/README.md. */
@NullMarked
package io.troupe.bench;

import org.jspecify.annotations.NullMarked;
