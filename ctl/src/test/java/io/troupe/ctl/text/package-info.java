/** Tests of {@code io.troupe.ctl.text}. See docs/ctl.md. */
@NullMarked
package io.troupe.ctl.text;

import org.jspecify.annotations.NullMarked;
