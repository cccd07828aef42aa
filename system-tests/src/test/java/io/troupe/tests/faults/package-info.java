/**
 * Clusters of real processes with faults: the checkers of the simulation check the calls of clients
 * and the events of watchers. Entry classes: {@link io.troupe.tests.faults.TestCluster}, {@link
 * io.troupe.tests.faults.ClusterCampaign}. See docs/campaigns/README.md.
 */
@NullMarked
package io.troupe.tests.faults;

import org.jspecify.annotations.NullMarked;
