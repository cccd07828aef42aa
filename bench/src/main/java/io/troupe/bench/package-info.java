/**
 * Command line of the load generator: options, commands, and the order in which servers are started
 * and loaded. Entry class: {@link io.troupe.bench.BenchMain}. May import the packages below it. See
 * bench/README.md.
 */
@NullMarked
package io.troupe.bench;

import org.jspecify.annotations.NullMarked;
