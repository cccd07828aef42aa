/**
 * A member as a real process that is started from the jar or the launch scripts, observed and
 * killed. Entry class: {@link io.troupe.tests.process.NodeProcess}. Imports JUnit, AssertJ and
 * Awaitility only. See docs/conformance.md.
 */
@NullMarked
package io.troupe.tests.process;

import org.jspecify.annotations.NullMarked;
