/**
 * The ordered store on RocksDB. Entry class: {@link io.troupe.persistence.store.RocksStore}.
 * Imports model, mvcc, datadir and RocksDB. See docs/components/store.md.
 */
@NullMarked
package io.troupe.persistence.store;

import org.jspecify.annotations.NullMarked;
