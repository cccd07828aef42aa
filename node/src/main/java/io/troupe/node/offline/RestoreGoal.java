package io.troupe.node.offline;

import io.troupe.persistence.backup.BackupManifest;
import io.troupe.persistence.backup.LogPart;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How far a restore goes with the log after a backup.
 *
 * @param useLog false: the backup alone
 * @param revision the restore ends with the entry that makes this revision; 0: no such limit
 * @param time entries that were applied later are left out; null: no such limit
 */
record RestoreGoal(boolean useLog, long revision, @Nullable Instant time) {
  /**
   * The goal of the flags of a command.
   *
   * @param id of a backup; empty: it is chosen by the goal
   * @param revision null if it is not given
   * @param time as in ISO 8601, with an offset; null if it is not given
   * @throws CommandException if they contradict each other, or are no revision or time
   */
  static RestoreGoal of(String id, @Nullable Long revision, @Nullable String time) {
    if (revision != null && time != null) {
      throw wrong("expected --revision or --time, not both");
    }
    if (revision != null && revision < 1) {
      throw wrong("--revision=" + revision + ": expected 1 or more");
    }
    boolean limited = revision != null || time != null;
    return new RestoreGoal(
        limited || id.isEmpty(),
        revision == null ? 0 : revision,
        time == null ? null : parse(time));
  }

  private static Instant parse(String time) {
    try {
      return OffsetDateTime.parse(time).toInstant();
    } catch (DateTimeParseException e) {
      throw wrong(
          "--time=" + time + ": expected a time with an offset, such as 2026-11-26T03:04:05Z");
    }
  }

  private static CommandException wrong(String text) {
    return new CommandException(CommandException.BAD_ARGUMENTS, text);
  }

  /**
   * Chooses the backup to begin with: the newest one that does not go beyond the goal.
   *
   * @param backups of one cluster or of several, the newest first, at least one; the newest one
   *     tells which cluster is meant
   * @throws CommandException if all go beyond it
   */
  BackupManifest base(List<BackupManifest> backups) {
    BackupManifest oldest = backups.get(0);
    for (BackupManifest backup : backups) {
      if (backup.cluster() == oldest.cluster()) {
        if (contains(backup)) {
          return backup;
        }
        oldest = backup;
      }
    }
    throw new CommandException(
        "cannot go back to "
            + this
            + ": the oldest backup "
            + oldest.id()
            + " has revision "
            + oldest.revision()
            + " and is of "
            + oldest.time());
  }

  private boolean contains(BackupManifest backup) {
    Instant limit = time;
    return (revision == 0 || backup.revision() <= revision)
        && (limit == null || !backup.time().isAfter(limit));
  }

  /** Whether entries of this part belong to the goal. */
  boolean wants(LogPart part) {
    Instant limit = time;
    return limit == null || !part.time().isAfter(limit);
  }

  /** Whether the goal is reached with a revision. */
  boolean isReached(long current) {
    return revision != 0 && current >= revision;
  }

  @Override
  public String toString() {
    return revision != 0
        ? "revision " + revision
        : time != null ? time.toString() : "the newest entry";
  }
}
