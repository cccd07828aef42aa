/**
 * What clients and watches saw, and what was committed: the input of the checkers. Entry class:
 * {@link io.troupe.simulation.history.History}. Imports io.troupe.model. See docs/simulation.md.
 */
@NullMarked
package io.troupe.simulation.history;

import org.jspecify.annotations.NullMarked;
