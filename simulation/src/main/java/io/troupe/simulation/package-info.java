/**
 * Simulates whole clusters in one thread: seeded, with virtual time, faults, clients and checks.
 * Entry classes: {@link io.troupe.simulation.Simulation} for one seed, {@link
 * io.troupe.simulation.CampaignMain} for many. Imports core. See docs/simulation.md.
 */
@NullMarked
package io.troupe.simulation;

import org.jspecify.annotations.NullMarked;
