/** Tests of the settings and of a member's first start. See docs/components/membership.md. */
@NullMarked
package io.troupe.node;

import org.jspecify.annotations.NullMarked;
