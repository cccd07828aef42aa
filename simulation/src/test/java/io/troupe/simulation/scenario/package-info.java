/**
 * Scenarios with fixed steps in virtual time: operator actions, faults, and the required results.
 * Entry: {@link io.troupe.simulation.scenario.ClusterScenarioTest}. Imports the simulation and
 * core. See docs/simulation.md.
 */
@NullMarked
package io.troupe.simulation.scenario;

import org.jspecify.annotations.NullMarked;
