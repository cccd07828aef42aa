/**
 * The multi-version store: one writer, many readers, any revision above the compacted one. Entry
 * class: {@link io.troupe.mvcc.OrderedStore}. Imports model alone. See docs/components/store.md.
 */
@NullMarked
package io.troupe.mvcc;

import org.jspecify.annotations.NullMarked;
