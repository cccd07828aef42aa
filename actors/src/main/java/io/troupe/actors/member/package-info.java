/**
 * Recovery order, start of the actors, and handling of a stopped actor. Entry class: {@link
 * io.troupe.actors.member.MemberGuardian}. Imports core, protocol, persistence and Pekko. See
 * docs/architecture.md.
 */
@NullMarked
package io.troupe.actors.member;

import org.jspecify.annotations.NullMarked;
