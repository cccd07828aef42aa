/**
 * Output modes. Entry class: {@link io.troupe.ctl.print.Printer}. May import {@code text}, {@code
 * cli} and the messages. See docs/ctl.md.
 */
@NullMarked
package io.troupe.ctl.print;

import org.jspecify.annotations.NullMarked;
