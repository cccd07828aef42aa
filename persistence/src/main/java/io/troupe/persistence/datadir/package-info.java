/**
 * The data directory of a member: layout, lock, identity, and file operations that survive a power
 * cut. Entry class: {@link io.troupe.persistence.datadir.DataDir}. Imports model. See
 * docs/formats/data-dir.md.
 */
@NullMarked
package io.troupe.persistence.datadir;

import org.jspecify.annotations.NullMarked;
