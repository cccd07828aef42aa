/**
 * Clusters of real processes: how members come and go, and what clients see of it. Entry class:
 * {@link io.troupe.node.cluster.ProcessCluster}. See docs/components/membership.md.
 */
@NullMarked
package io.troupe.node.cluster;

import org.jspecify.annotations.NullMarked;
