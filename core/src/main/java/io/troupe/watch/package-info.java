/**
 * Rules of watches without streams or mailboxes: who wants an event, what a create request comes
 * to, how a response is cut. Entry class: {@link io.troupe.watch.WatcherGroups}. Imports model
 * alone. See docs/components/watch.md.
 */
@NullMarked
package io.troupe.watch;

import org.jspecify.annotations.NullMarked;
