/**
 * Tests of the data directory. Entry class: {@link io.troupe.persistence.datadir.DataDirTest}.
 * Imports what the tested package imports. See docs/formats/data-dir.md.
 */
@NullMarked
package io.troupe.persistence.datadir;

import org.jspecify.annotations.NullMarked;
