/**
 * Tests of snapshots. Entry class: {@link io.troupe.persistence.snapshot.SnapshotDirectoryTest}.
 * Imports what the tested package imports, and store. See docs/components/snapshot.md.
 */
@NullMarked
package io.troupe.persistence.snapshot;

import org.jspecify.annotations.NullMarked;
