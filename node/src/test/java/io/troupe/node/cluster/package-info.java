/**
 * Clusters of real processes: membership changes, and their effect on clients. Entry class: {@link
 * io.troupe.node.cluster.ProcessCluster}. See docs/components/membership.md.
 */
@NullMarked
package io.troupe.node.cluster;

import org.jspecify.annotations.NullMarked;
