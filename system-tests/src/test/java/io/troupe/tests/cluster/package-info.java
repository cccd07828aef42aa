/**
 * Clusters of real processes: membership changes, and their effect on clients. Entry class: {@link
 * io.troupe.tests.cluster.ProcessCluster}. See docs/components/membership.md.
 */
@NullMarked
package io.troupe.tests.cluster;

import org.jspecify.annotations.NullMarked;
