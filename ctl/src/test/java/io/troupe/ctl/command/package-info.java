/** Tests of {@code io.troupe.ctl.command}. See docs/ctl.md. */
@NullMarked
package io.troupe.ctl.command;

import org.jspecify.annotations.NullMarked;
