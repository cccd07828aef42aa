/**
 * Backups of a state: files that several backups share, and a manifest for each backup; and the log
 * between them. Entry classes: {@link io.troupe.persistence.backup.Backups} and {@link
 * io.troupe.persistence.backup.BackupLog}. Imports datadir. See docs/formats/backup.md.
 */
@NullMarked
package io.troupe.persistence.backup;

import org.jspecify.annotations.NullMarked;
