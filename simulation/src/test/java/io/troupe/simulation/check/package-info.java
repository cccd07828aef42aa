/**
 * Valid and invalid handmade histories for each check. Entry class: {@code Histories}. Imports the
 * checks. See docs/simulation.md.
 */
@NullMarked
package io.troupe.simulation.check;

import org.jspecify.annotations.NullMarked;
