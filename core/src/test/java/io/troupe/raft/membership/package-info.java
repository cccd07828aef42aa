/**
 * Tests of memberships and their changes. Entry class: {@link
 * io.troupe.raft.membership.MembershipTest}. Imports io.troupe.model. See docs/components/raft.md.
 */
@NullMarked
package io.troupe.raft.membership;

import org.jspecify.annotations.NullMarked;
