/**
 * The membership: voters and learners, and how a change transforms one membership into the next.
 * Entry class: {@link io.troupe.raft.membership.Membership}. Imports io.troupe.model and
 * io.troupe.raft.quorum. See docs/components/raft.md.
 */
@NullMarked
package io.troupe.raft.membership;

import org.jspecify.annotations.NullMarked;
