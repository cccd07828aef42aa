/**
 * Runs the Raft loop of core in an actor. Entry class: {@link io.troupe.actors.raft.RaftRoleActor}.
 * Imports core, protocol, persistence and Pekko. See docs/components/raft.md.
 */
@NullMarked
package io.troupe.actors.raft;

import org.jspecify.annotations.NullMarked;
