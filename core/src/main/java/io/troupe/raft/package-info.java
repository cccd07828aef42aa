/**
 * The Raft rules of one member, without threads, files or clocks. Entry class: {@link
 * io.troupe.raft.RaftCore}. Imports io.troupe.model and its own sub-packages. See
 * docs/components/raft.md.
 */
@NullMarked
package io.troupe.raft;

import org.jspecify.annotations.NullMarked;
