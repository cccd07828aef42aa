@NullMarked
package io.troupe.node.tls;

import org.jspecify.annotations.NullMarked;
