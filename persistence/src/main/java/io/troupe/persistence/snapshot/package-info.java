/**
 * Snapshots of the state: checkpoint directories with a manifest, accessed through Pekko
 * Persistence. Entry class: {@link io.troupe.persistence.snapshot.SnapshotPlugin}. Imports model,
 * datadir and Pekko Persistence. See docs/components/snapshot.md.
 */
@NullMarked
package io.troupe.persistence.snapshot;

import org.jspecify.annotations.NullMarked;
