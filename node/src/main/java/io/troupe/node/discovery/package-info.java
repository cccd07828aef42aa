/**
 * How first members that do not know each other find each other: through keys of another cluster
 * (spec 8.1). Entry class {@link io.troupe.node.discovery.Discovery}. Uses the JDK's HTTP client and
 * {@code io.troupe.node.tls}; docs/rooms/membership.md explains it.
 */
@NullMarked
package io.troupe.node.discovery;

import org.jspecify.annotations.NullMarked;
