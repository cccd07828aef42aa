/**
 * Writes the log with group commit. Entry class: {@link io.troupe.actors.wal.WalActor}. Imports
 * core, protocol, persistence and Pekko. See docs/components/wal.md.
 */
@NullMarked
package io.troupe.actors.wal;

import org.jspecify.annotations.NullMarked;
