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
    Duration stallTimeout =
        reader.duration("backup.stall-timeout", Duration.ofSeconds(1), Duration.ofDays(1));
    return directory.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new BackupSettings(Path.of(directory).toAbsolutePath(), interval, keep, stallTimeout));
  }
}
