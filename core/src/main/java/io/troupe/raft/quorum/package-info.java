/**
 * Majorities: which index is stored by enough voters, and whether a ballot is decided. Entry class:
 * {@link io.troupe.raft.quorum.Quorum}. Imports io.troupe.model alone. See docs/components/raft.md.
 */
@NullMarked
package io.troupe.raft.quorum;

import org.jspecify.annotations.NullMarked;
