package io.troupe.server;

import java.time.Duration;

/**
 * Settings of the periodic tasks of a member. Validated where the configuration is read.
 *
 * @param retention what automatic compaction keeps (2.16)
 * @param corruptCheckTime interval between two comparisons of all content; zero: never (Q5)
 * @param compactHashCheckTime interval between two comparisons of compaction hashes; zero: never
 *     (Q5)
 * @param initialCorruptCheck compare with other members before serving (Q5)
 */
public record UpkeepSettings(
    Retention retention,
    Duration corruptCheckTime,
    Duration compactHashCheckTime,
    boolean initialCorruptCheck) {

  /** No tasks. */
  public static final UpkeepSettings NONE =
      new UpkeepSettings(Retention.Forever.INSTANCE, Duration.ZERO, Duration.ZERO, false);

  /** The history that automatic compaction keeps. */
  public sealed interface Retention {
    /** All revisions. */
    enum Forever implements Retention {
      /** The only instance. */
      INSTANCE
    }

    /** The revisions of a period above zero (AC1). */
    record Time(Duration time) implements Retention {}

    /** A number of newest revisions, above zero (AC2). */
    record Revisions(long revisions) implements Retention {}
  }
}
