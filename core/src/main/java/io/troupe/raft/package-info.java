/**
 * The Raft rules of one member, without threads, files or clocks. Entry classes: {@link
 * io.troupe.raft.RaftCore}, and {@link io.troupe.raft.RaftLoop} for the actor around it. Imports
 * io.troupe.model and its own sub-packages. See docs/components/raft.md.
 */
@NullMarked
package io.troupe.raft;

import org.jspecify.annotations.NullMarked;
