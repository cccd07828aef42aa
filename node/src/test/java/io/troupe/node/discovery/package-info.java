/** Tests of how first members find each other. Entry class: DiscoveryTest. */
@NullMarked
package io.troupe.node.discovery;

import org.jspecify.annotations.NullMarked;
