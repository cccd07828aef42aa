/**
 * Tests of io.troupe.mvcc. Entry class: {@link io.troupe.mvcc.StoreModelDriver}. Imports core and
 * the test libraries. See docs/components/store.md.
 */
@NullMarked
package io.troupe.mvcc;

import org.jspecify.annotations.NullMarked;
