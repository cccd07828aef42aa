/**
 * The watch hub and its streams. Entry class: {@link io.troupe.actors.watch.WatchHubActor}. Imports
 * core, protocol, persistence and Pekko. See docs/components/watch.md.
 */
@NullMarked
package io.troupe.actors.watch;

import org.jspecify.annotations.NullMarked;
