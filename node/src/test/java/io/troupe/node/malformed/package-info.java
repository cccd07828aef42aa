/** Malformed input on the client port: a member continues as if nothing had happened. */
@NullMarked
package io.troupe.node.malformed;

import org.jspecify.annotations.NullMarked;
