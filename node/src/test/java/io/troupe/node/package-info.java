/** Tests of the settings and of the first start of a member. See docs/components/membership.md. */
@NullMarked
package io.troupe.node;

import org.jspecify.annotations.NullMarked;
