/** Tests of the process. Entry class: {@link io.troupe.node.process.ProcessExitTest}. */
@NullMarked
package io.troupe.node.process;

import org.jspecify.annotations.NullMarked;
