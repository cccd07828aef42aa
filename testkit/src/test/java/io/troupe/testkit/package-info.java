/**
 * Tests of the testkit with jetcd. Entry class: {@link io.troupe.testkit.TroupeServerTest}. See
 * docs/testkit.md.
 */
@NullMarked
package io.troupe.testkit;

import org.jspecify.annotations.NullMarked;
