/**
 * The replicated state machine: applies log entries in order and returns their outcome. Entry
 * class: {@link io.troupe.machine.StateMachine}. Imports model, mvcc, txn, lease, version and
 * raft.membership. See docs/components/apply.md.
 */
@NullMarked
package io.troupe.machine;

import org.jspecify.annotations.NullMarked;
