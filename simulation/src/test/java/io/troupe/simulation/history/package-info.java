/** Tests of recorded histories. Entry class: {@code WatchRecord}. See docs/simulation.md. */
@NullMarked
package io.troupe.simulation.history;

import org.jspecify.annotations.NullMarked;
