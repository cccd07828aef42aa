/**
 * Runs Troupe inside the JVM of a test. Entry classes: {@link io.troupe.testkit.TroupeServer} and
 * {@link io.troupe.testkit.TroupeExtension}. Imports the entry classes of io.troupe.node. See
 * docs/testkit.md.
 */
@NullMarked
package io.troupe.testkit;

import org.jspecify.annotations.NullMarked;
