/** Tests of the discovery of the first members. Entry class: DiscoveryTest. */
@NullMarked
package io.troupe.node.discovery;

import org.jspecify.annotations.NullMarked;
