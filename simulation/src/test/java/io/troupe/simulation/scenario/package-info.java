/**
 * Stories with a fixed course in virtual time: what an operator does and what breaks, and what must
 * come of it. Entry: {@link io.troupe.simulation.scenario.ClusterScenarioTest}. Imports the simulation
 * and core. docs/simulation.md
 */
@NullMarked
package io.troupe.simulation.scenario;

import org.jspecify.annotations.NullMarked;
