/** Tests of {@code io.troupe.ctl.client}. See docs/ctl.md. */
@NullMarked
package io.troupe.ctl.client;

import org.jspecify.annotations.NullMarked;
