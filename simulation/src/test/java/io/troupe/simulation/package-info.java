/**
 * Suites over seeded clusters. Entry class: {@code SimulationTest}. Imports the simulation. See
 * docs/simulation.md.
 */
@NullMarked
package io.troupe.simulation;

import org.jspecify.annotations.NullMarked;
