/**
 * Tests of the raft actor. Entry class: {@link io.troupe.actors.raft.RaftRoleActorTest}. See
 * docs/components/raft.md.
 */
@NullMarked
package io.troupe.actors.raft;

import org.jspecify.annotations.NullMarked;
