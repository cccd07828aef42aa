/**
 * Rules of snapshots, without files and mailboxes: when one is taken, for which followers, and how
 * much of the log is kept. Entry class: {@link io.troupe.snapshot.SnapshotCore}. Imports model and
 * raft. See docs/components/snapshot.md.
 */
@NullMarked
package io.troupe.snapshot;

import org.jspecify.annotations.NullMarked;
