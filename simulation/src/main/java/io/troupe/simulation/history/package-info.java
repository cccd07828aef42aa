/**
 * Recorded calls and watches of clients, and the committed events: the input of the checks. Entry
 * class: {@link io.troupe.simulation.history.History}. Imports io.troupe.model. See
 * docs/simulation.md.
 */
@NullMarked
package io.troupe.simulation.history;

import org.jspecify.annotations.NullMarked;
