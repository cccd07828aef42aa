/**
 * Tests of io.troupe.machine. Entry class: {@link io.troupe.machine.StateMachineTest}. Imports core
 * and the test libraries. See docs/components/apply.md.
 */
@NullMarked
package io.troupe.machine;

import org.jspecify.annotations.NullMarked;
