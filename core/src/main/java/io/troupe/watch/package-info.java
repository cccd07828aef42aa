/**
 * Rules of watches, without mailboxes: which watcher gets an event, when it reads history, the
 * checks of a create request, how a response is split. Entry classes: {@link
 * io.troupe.watch.WatchHubCore}, {@link io.troupe.watch.WatchStreamCore}, {@link
 * io.troupe.watch.CommitBatcher}. Imports model alone. See docs/components/watch.md.
 */
@NullMarked
package io.troupe.watch;

import org.jspecify.annotations.NullMarked;
