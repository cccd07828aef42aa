/**
 * The replicated state machine: applies log entries one after the other and says what they came to.
 * Entry class: {@link io.troupe.machine.StateMachine}. Imports model, mvcc, txn, lease and
 * raft.membership. See docs/components/apply.md.
 */
@NullMarked
package io.troupe.machine;

import org.jspecify.annotations.NullMarked;
