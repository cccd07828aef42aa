/** Malformed input on the client port: a member continues without damage. */
@NullMarked
package io.troupe.tests.malformed;

import org.jspecify.annotations.NullMarked;
