/** Tests of {@code io.troupe.ctl.cli}. See docs/ctl.md. */
@NullMarked
package io.troupe.ctl.cli;

import org.jspecify.annotations.NullMarked;
