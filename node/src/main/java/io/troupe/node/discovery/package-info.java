/**
 * Discovery of the initial members of a cluster: through keys of another cluster (8.1), or SRV
 * records (8.2). Entry classes {@link io.troupe.node.discovery.Discovery} and {@link
 * io.troupe.node.discovery.SrvCluster}. Uses the JDK's HTTP and DNS clients, the gateway's JSON and
 * {@code io.troupe.node.tls}; docs/components/membership.md explains it.
 */
@NullMarked
package io.troupe.node.discovery;

import org.jspecify.annotations.NullMarked;
