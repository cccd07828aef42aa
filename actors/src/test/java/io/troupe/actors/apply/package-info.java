/**
 * Tests of the rooms around the state. Entry class: CompactionActorTest. See docs/rooms/store.md.
 */
@NullMarked
package io.troupe.actors.apply;

import org.jspecify.annotations.NullMarked;
