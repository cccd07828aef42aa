/**
 * Tests of the Raft rules: one by one, by script, and by seeded clusters with faults. Entry class:
 * {@link io.troupe.raft.RandomClusterTest}. Imports io.troupe.model and io.troupe.raft. See
 * docs/components/raft.md.
 */
@NullMarked
package io.troupe.raft;

import org.jspecify.annotations.NullMarked;
