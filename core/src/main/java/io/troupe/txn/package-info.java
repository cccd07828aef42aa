/**
 * Requests on keys: what may be checked without the state, and how they run against it. Entry
 * class: {@link io.troupe.txn.WriteEvaluator}. Imports model and mvcc. See docs/components/apply.md.
 */
@NullMarked
package io.troupe.txn;

import org.jspecify.annotations.NullMarked;
