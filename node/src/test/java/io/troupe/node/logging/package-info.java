/** Tests of the log. Entry class: {@link io.troupe.node.logging.ProcessLoggingTest}. */
@NullMarked
package io.troupe.node.logging;

import org.jspecify.annotations.NullMarked;
