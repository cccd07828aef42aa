/**
 * What a start decides before the member runs: first members, identity, storage, forced clusters.
 * Entry class: {@link io.troupe.node.start.Bootstrap}. See docs/components/membership.md.
 */
@NullMarked
package io.troupe.node.start;

import org.jspecify.annotations.NullMarked;
