/**
 * Tests of the watch actor. Entry class: {@link io.troupe.actors.watch.WatchStreamActorTest}. See
 * docs/components/watch.md.
 */
@NullMarked
package io.troupe.actors.watch;

import org.jspecify.annotations.NullMarked;
