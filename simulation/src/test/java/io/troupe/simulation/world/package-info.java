/**
 * Tests of the rules that the simulation checks. Entry class: {@code ClusterRulesTest}. Imports the
 * simulation. See docs/simulation.md.
 */
@NullMarked
package io.troupe.simulation.world;

import org.jspecify.annotations.NullMarked;
