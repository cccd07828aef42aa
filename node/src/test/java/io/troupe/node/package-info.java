/** Tests of the settings and of a member's first start. See docs/rooms/membership.md. */
@NullMarked
package io.troupe.node;

import org.jspecify.annotations.NullMarked;
