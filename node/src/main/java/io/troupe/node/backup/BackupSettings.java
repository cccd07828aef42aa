package io.troupe.node.backup;

import java.nio.file.Path;
import java.time.Duration;

/**
 * When and where backups are written.
 *
 * @param directory of the backups, absolute
 * @param interval from one backup to the next, 1 s or more
 * @param keep number of backups, 1 or more; older ones are deleted
 * @param logInterval from one shipment of the log to the next, 1 s or more; zero: the log is not
 *     shipped
 * @param stallTimeout a backup without progress for this long has failed, 1 s or more
 */
public record BackupSettings(
    Path directory, Duration interval, int keep, Duration logInterval, Duration stallTimeout) {
  /** Whether the log is shipped. */
  public boolean shipsLog() {
    return !logInterval.isZero();
  }
}
