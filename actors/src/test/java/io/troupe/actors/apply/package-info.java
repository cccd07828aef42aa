/**
 * Tests of the actors around the state. Entry class: CompactionActorTest. See
 * docs/components/store.md.
 */
@NullMarked
package io.troupe.actors.apply;

import org.jspecify.annotations.NullMarked;
