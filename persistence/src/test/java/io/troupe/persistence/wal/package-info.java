/**
 * Tests of the write-ahead log. Entry class: {@link io.troupe.persistence.wal.WalDamageTest}.
 * Imports what the tested package imports. See docs/components/wal.md.
 */
@NullMarked
package io.troupe.persistence.wal;

import org.jspecify.annotations.NullMarked;
