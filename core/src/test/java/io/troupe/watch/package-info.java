/**
 * Tests of io.troupe.watch. Entry class: {@link io.troupe.watch.WatchStreamCoreTest}. Imports core
 * and the test libraries. See docs/components/watch.md.
 */
@NullMarked
package io.troupe.watch;

import org.jspecify.annotations.NullMarked;
