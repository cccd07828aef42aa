/**
 * Tests of io.troupe.txn. Entry class: {@link io.troupe.txn.TxnEvaluationTest}. Imports core and
 * the test libraries. See docs/components/apply.md.
 */
@NullMarked
package io.troupe.txn;

import org.jspecify.annotations.NullMarked;
