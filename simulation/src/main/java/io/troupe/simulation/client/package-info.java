/**
 * Clients of a simulated cluster, which record their calls and replies. Entry class: {@link
 * io.troupe.simulation.client.SimClient}. Imports io.troupe.model and the world. See
 * docs/simulation.md.
 */
@NullMarked
package io.troupe.simulation.client;

import org.jspecify.annotations.NullMarked;
