/**
 * Checkpoints of the state and what they allow to drop. Entry class: {@link
 * io.troupe.actors.snapshot.SnapshotActor}. Imports core, protocol, persistence and Pekko. See
 * docs/components/snapshot.md.
 */
@NullMarked
package io.troupe.actors.snapshot;

import org.jspecify.annotations.NullMarked;
