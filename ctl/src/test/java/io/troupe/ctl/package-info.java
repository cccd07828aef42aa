/** Tests of the program as a process. See docs/ctl.md. */
@NullMarked
package io.troupe.ctl;

import org.jspecify.annotations.NullMarked;
