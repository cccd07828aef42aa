/**
 * Histories made by hand, good and bad, for each checker. Entry class: {@code Histories}. Imports
 * the checkers. See docs/simulation.md.
 */
@NullMarked
package io.troupe.simulation.check;

import org.jspecify.annotations.NullMarked;
