/**
 * Rules of watches, without streams or mailboxes: which watcher gets an event, the checks of a
 * create request, how a response is split. Entry class: {@link io.troupe.watch.WatcherGroups}.
 * Imports model alone. See docs/components/watch.md.
 */
@NullMarked
package io.troupe.watch;

import org.jspecify.annotations.NullMarked;
