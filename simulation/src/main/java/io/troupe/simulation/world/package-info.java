/**
 * Members, disks and the network of a simulated cluster, and the rules that must hold after every
 * event. Entry class: {@link io.troupe.simulation.world.SimWorld}. Imports core. See
 * docs/simulation.md.
 */
@NullMarked
package io.troupe.simulation.world;

import org.jspecify.annotations.NullMarked;
