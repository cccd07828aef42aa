package io.troupe.node.config;

import io.troupe.node.backup.BackupSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** Reads the settings of backups. */
final class BackupReader {
  private final SettingsReader reader;

  BackupReader(SettingsReader reader) {
    this.reader = reader;
  }

  /** Empty without a directory. */
  Optional<BackupSettings> read() {
    String directory = reader.text("backup.directory");
    Duration interval =
        reader.duration("backup.interval", Duration.ofSeconds(1), Duration.ofDays(365));
    int keep = (int) reader.number("backup.keep", 1, 100_000);
    Duration logInterval =
        reader.duration("backup.log-interval", Duration.ZERO, Duration.ofDays(1));
    if (!logInterval.isZero() && logInterval.compareTo(Duration.ofSeconds(1)) < 0) {
      throw SettingsReader.wrong(
          "backup.log-interval", logInterval.toMillis() + " ms", "0, or 1 s or more");
    }
    Duration stallTimeout =
        reader.duration("backup.stall-timeout", Duration.ofSeconds(1), Duration.ofDays(1));
    return directory.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new BackupSettings(
                Path.of(directory).toAbsolutePath(), interval, keep, logInterval, stallTimeout));
  }
}
