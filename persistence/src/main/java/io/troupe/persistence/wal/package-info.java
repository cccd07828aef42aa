/**
 * The write-ahead log: appends, forces, replays after a stop, removes segments that a snapshot
 * covers. Entry class: {@link io.troupe.persistence.wal.Wal}. Imports model, datadir and Chronicle
 * Queue. See docs/components/wal.md.
 */
@NullMarked
package io.troupe.persistence.wal;

import org.jspecify.annotations.NullMarked;
