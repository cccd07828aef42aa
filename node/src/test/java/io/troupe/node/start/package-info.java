/**
 * Tests of the first start of a member. Entry class: {@link io.troupe.node.start.BootstrapTest}.
 * See docs/components/membership.md.
 */
@NullMarked
package io.troupe.node.start;

import org.jspecify.annotations.NullMarked;
