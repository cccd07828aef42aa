/** Tests of the ports. Entry class: {@link io.troupe.node.ports.MemberLocalAddressTest}. */
@NullMarked
package io.troupe.node.ports;

import org.jspecify.annotations.NullMarked;
