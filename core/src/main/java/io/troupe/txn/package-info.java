/**
 * Requests on keys: checks that need no state, and their execution on the state. Entry class:
 * {@link io.troupe.txn.WriteEvaluator}. Imports model and mvcc. See docs/components/apply.md.
 */
@NullMarked
package io.troupe.txn;

import org.jspecify.annotations.NullMarked;
