/**
 * Checkpoints of the state, and removal of the log that they make unnecessary. Entry class: {@link
 * io.troupe.actors.snapshot.SnapshotActor}. Imports core, protocol, persistence and Pekko. See
 * docs/components/snapshot.md.
 */
@NullMarked
package io.troupe.actors.snapshot;

import org.jspecify.annotations.NullMarked;
