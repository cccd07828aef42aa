/**
 * Backups of a state: files that several backups share, and a manifest for each backup. Entry
 * class: {@link io.troupe.persistence.backup.Backups}. Imports datadir. See docs/formats/backup.md.
 */
@NullMarked
package io.troupe.persistence.backup;

import org.jspecify.annotations.NullMarked;
