/** Tests of identities and messages between actors. See docs/components/membership.md. */
@NullMarked
package io.troupe.protocol;

import org.jspecify.annotations.NullMarked;
