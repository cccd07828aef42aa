/**
 * Tests of the transfer of snapshots between members. Entry class: {@link
 * io.troupe.actors.snapshot.TransferTest}. See docs/components/snapshot.md.
 */
@NullMarked
package io.troupe.actors.snapshot;

import org.jspecify.annotations.NullMarked;
