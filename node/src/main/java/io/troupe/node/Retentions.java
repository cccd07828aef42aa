package io.troupe.node;

import io.troupe.grpc.service.UpkeepSettings.Retention;
import io.troupe.model.GoDuration;
import java.time.Duration;

/** What automatic compaction keeps, as text (AC1, AC2). */
final class Retentions {
  /** What is right. */
  static final String FORM =
      "a whole number (of hours, or of revisions), or a duration such as \"1h30m\", not negative";

  private Retentions() {}

  /**
   * Reads.
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
    // Quirk of AC2: then nanoseconds are revisions.
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
