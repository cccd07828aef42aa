/**
 * The command line {@code bin/ctl}. Entry class: {@link io.troupe.ctl.CtlMain}. May import all
 * packages below it. See docs/ctl.md.
 */
@NullMarked
package io.troupe.ctl;

import org.jspecify.annotations.NullMarked;
