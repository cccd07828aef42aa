/**
 * A member as a real process: started from the jar or the launch scripts, watched, killed. Entry
 * class: {@link io.troupe.node.process.NodeProcess}. Imports JUnit, AssertJ and Awaitility only.
 * See docs/conformance.md.
 */
@NullMarked
package io.troupe.node.process;

import org.jspecify.annotations.NullMarked;
