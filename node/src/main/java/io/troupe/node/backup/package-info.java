/**
 * Writes backups on a schedule. Entry class: {@link io.troupe.node.backup.BackupSchedule}. Commands
 * on backups are in {@code io.troupe.node.offline}.
 */
@NullMarked
package io.troupe.node.backup;

import org.jspecify.annotations.NullMarked;
