package io.troupe.node.config;

import io.troupe.model.GoDuration;
import io.troupe.server.UpkeepSettings.Retention;
import java.time.Duration;

/** Parses the retention of automatic compaction (AC1, AC2). */
final class Retentions {
  /** The valid form, for error texts. */
  static final String FORM =
      "a whole number (of hours, or of revisions), or a duration such as \"1h30m\", not negative";

  private Retentions() {}

  /**
   * Parses the setting.
   *
   * @param mode periodic or revision
   * @throws IllegalArgumentException if the text has another form
   */
  static Retention of(String mode, String text) {
    boolean byRevision = mode.equals("revision");
    if (byRevision && text.matches("\\+?[0-9]+")) {
      return revisions(Long.parseLong(text));
    }
    if (text.matches("\\+?[0-9]{1,9}")) {
      return time(Duration.ofHours(Long.parseLong(text)));
    }
    Duration duration = GoDuration.parse(text);
    // AC2: by revision, the nanoseconds of a duration are the number of revisions.
    return byRevision ? revisions(duration.toNanos()) : time(duration);
  }

  private static Retention revisions(long revisions) {
    if (revisions < 0) {
      throw new IllegalArgumentException("negative");
    }
    return revisions == 0 ? Retention.Forever.INSTANCE : new Retention.Revisions(revisions);
  }

  private static Retention time(Duration time) {
    if (time.isNegative()) {
      throw new IllegalArgumentException("negative");
    }
    return time.isZero() ? Retention.Forever.INSTANCE : new Retention.Time(time);
  }
}
