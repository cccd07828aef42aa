/**
 * Comparison of the output with etcdctl. Entry class: {@link
 * io.troupe.ctl.golden.GoldenOutputTest}. See docs/ctl.md.
 */
@NullMarked
package io.troupe.ctl.golden;

import org.jspecify.annotations.NullMarked;
