/**
 * Tests of the RocksDB store. Entry class: {@link io.troupe.persistence.store.RocksStoreTest}.
 * Imports what the tested package imports. See docs/components/store.md.
 */
@NullMarked
package io.troupe.persistence.store;

import org.jspecify.annotations.NullMarked;
