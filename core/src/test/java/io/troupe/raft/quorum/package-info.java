/**
 * Tests of the majorities. Entry class: {@link io.troupe.raft.quorum.QuorumPropertiesTest}. Imports
 * io.troupe.model. See docs/components/raft.md.
 */
@NullMarked
package io.troupe.raft.quorum;

import org.jspecify.annotations.NullMarked;
