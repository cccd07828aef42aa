/** What tests of several modules need. */
@NullMarked
package io.troupe.testing;

import org.jspecify.annotations.NullMarked;
