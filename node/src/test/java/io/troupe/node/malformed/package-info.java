/** Malformed input on the client port: a member continues without damage. */
@NullMarked
package io.troupe.node.malformed;

import org.jspecify.annotations.NullMarked;
