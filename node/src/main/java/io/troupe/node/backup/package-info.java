/**
 * Writes backups on a schedule and on request, and ships the log between them. Entry class: {@link
 * io.troupe.node.backup.BackupSchedule}. Commands on backups are in {@code io.troupe.node.offline}.
 */
@NullMarked
package io.troupe.node.backup;

import org.jspecify.annotations.NullMarked;
