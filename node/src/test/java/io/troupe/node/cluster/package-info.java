/**
 * Clusters of real processes with faults: what clients and watchers saw is checked by the checkers
 * of the simulation. Entry classes: {@link io.troupe.node.cluster.TestCluster}, {@link
 * io.troupe.node.cluster.ClusterCampaign}. See docs/campaigns/README.md.
 */
@NullMarked
package io.troupe.node.cluster;

import org.jspecify.annotations.NullMarked;
