package io.troupe.node.backup;

import io.troupe.persistence.backup.BackupException;
import io.troupe.persistence.backup.BackupManifest;
import io.troupe.persistence.backup.BackupTarget;
import io.troupe.persistence.backup.Backups;
import io.troupe.protocol.MemberStatus;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes a backup of this member's state if it leads, and deletes old ones. Blocking. */
final class BackupWriter {
  private static final Logger LOG = LoggerFactory.getLogger(BackupWriter.class);

  /** A log that cannot be used, for example because of gaps, causes a backup at most that often. */
  private static final int LOG_INTERVALS = 10;

  private final BackupSettings settings;
  private final BackupSource source;
  private final MemberStatus status;
  private final Clock clock;

  /** First index of the log in the target that the next restore needs; 0 without a log. */
  private final LongSupplier logBegins;

  /** When the newest backup of this cluster in the target was written, as of the last look. */
  private volatile @Nullable Instant newest;

  BackupWriter(
      BackupSettings settings,
      BackupSource source,
      MemberStatus status,
      LongSupplier logBegins,
      Clock clock) {
    this.logBegins = logBegins;
    this.settings = settings;
    this.source = source;
    this.status = status;
    this.clock = clock;
  }

  /** Time of the newest backup of this cluster; null if there is none, or nothing is known. */
  @Nullable Instant newest() {
    return newest;
  }

  /**
   * Writes a backup if this member leads and the newest one is as old as the interval, or older
   * than the log in the target, which it cannot use then.
   *
   * @throws BackupException if the target cannot be read or written
   */
  void writeIfDue(BackupTarget target) {
    Backups backups = new Backups(target);
    BackupManifest before = newestOfCluster(backups);
    newest = before == null ? null : before.time();
    if (isDue(before) && leads()) {
      BackupManifest unused = write(backups);
      retain(target);
    }
  }

  private boolean isDue(@Nullable BackupManifest before) {
    if (before == null) {
      return true;
    }
    Duration age = Duration.between(before.time(), clock.instant());
    boolean beforeLog = before.index() < logBegins.getAsLong() - 1;
    return age.compareTo(settings.interval()) >= 0
        || (beforeLog && age.compareTo(settings.logInterval().multipliedBy(LOG_INTERVALS)) >= 0);
  }

  /**
   * Writes a backup now. It contains everything that was acknowledged before this call.
   *
   * @throws BackupException if this member does not lead, or the target cannot be written
   */
  BackupManifest write(BackupTarget target) {
    if (!leads()) {
      throw new BackupException("this member does not lead any more; ask the leader");
    }
    return write(new Backups(target));
  }

  private boolean leads() {
    return !status.leader().isNone() && status.leader().equals(status.memberId());
  }

  private BackupManifest write(Backups backups) {
    long startNanos = System.nanoTime();
    BackupManifest written = source.use(backups::write);
    newest = written.time();
    LOG.info(
        "wrote backup id={} revision={} index={} bytes={} took={}",
        written.id(),
        written.revision(),
        written.index(),
        written.bytes(),
        Duration.ofMillis((System.nanoTime() - startNanos) / 1_000_000));
    return written;
  }

  /**
   * Deletes old backups.
   *
   * @throws BackupException if the target cannot be changed
   */
  void retain(BackupTarget target) {
    for (String id : new Backups(target).retain(source.cluster(), settings.keep())) {
      LOG.info("deleted old backup id={}", id);
    }
  }

  private @Nullable BackupManifest newestOfCluster(Backups backups) {
    return backups.list().stream()
        .filter(backup -> backup.cluster() == source.cluster())
        .findFirst()
        .orElse(null);
  }
}
