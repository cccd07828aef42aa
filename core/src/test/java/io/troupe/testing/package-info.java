/** Utilities for the tests of several modules. */
@NullMarked
package io.troupe.testing;

import org.jspecify.annotations.NullMarked;
