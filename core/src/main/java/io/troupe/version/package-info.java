/**
 * The rules of versions: of the cluster, of its members, and of a downgrade (8.7). Entry class:
 * {@link io.troupe.version.VersionRules}. Imports model alone. See docs/components/versions.md.
 */
@NullMarked
package io.troupe.version;

import org.jspecify.annotations.NullMarked;
