/** Tests of {@code io.troupe.ctl.print}. See docs/ctl.md. */
@NullMarked
package io.troupe.ctl.print;

import org.jspecify.annotations.NullMarked;
