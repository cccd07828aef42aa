/** What histories say of themselves. Entry class: {@code WatchRecord}. See docs/simulation.md. */
@NullMarked
package io.troupe.simulation.history;

import org.jspecify.annotations.NullMarked;
