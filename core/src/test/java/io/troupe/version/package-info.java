/**
 * Tests of the rules of versions. Entry class: {@code VersionRulesTest}. Imports what they test.
 * See docs/components/versions.md.
 */
@NullMarked
package io.troupe.version;

import org.jspecify.annotations.NullMarked;
