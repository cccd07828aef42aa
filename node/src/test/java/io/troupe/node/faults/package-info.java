/**
 * Clusters of real processes with faults: what clients and watchers saw is checked by the checkers
 * of the simulation. Entry classes: {@link io.troupe.node.faults.TestCluster}, {@link
 * io.troupe.node.faults.ClusterCampaign}. See docs/campaigns/README.md.
 */
@NullMarked
package io.troupe.node.faults;

import org.jspecify.annotations.NullMarked;
