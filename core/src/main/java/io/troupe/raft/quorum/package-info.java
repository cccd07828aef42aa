/**
 * Quorums: the index that a quorum stores, and the result of an election. Entry class: {@link
 * io.troupe.raft.quorum.Quorum}. Imports io.troupe.model alone. See docs/components/raft.md.
 */
@NullMarked
package io.troupe.raft.quorum;

import org.jspecify.annotations.NullMarked;
