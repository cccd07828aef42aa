/**
 * Mutants: copies of core and simulation in which one rule is broken, and how many seeds notice it.
 * Entry class: {@code MutantCampaign}. Imports the JDK only. See docs/simulation.md.
 */
@NullMarked
package io.troupe.simulation.mutant;

import org.jspecify.annotations.NullMarked;
