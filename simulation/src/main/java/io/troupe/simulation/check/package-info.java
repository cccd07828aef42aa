/**
 * Checks of recorded histories, independent of the members. Entry class: {@link
 * io.troupe.simulation.check.HistoryChecks}. Imports io.troupe.model and the histories. See
 * docs/simulation.md.
 */
@NullMarked
package io.troupe.simulation.check;

import org.jspecify.annotations.NullMarked;
