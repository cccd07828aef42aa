package io.troupe.grpc.service;

import java.time.Duration;

/**
 * What a member does by itself from time to time. Checked where the configuration is read.
 *
 * @param retention what automatic compaction keeps (2.16)
 * @param corruptCheckTime between two comparisons of all content; zero: never (Q5)
 * @param compactHashCheckTime between two comparisons of compaction hashes; zero: never (Q5)
 * @param initialCorruptCheck compare with the others before serving (Q5)
 */
public record UpkeepSettings(
    Retention retention,
    Duration corruptCheckTime,
    Duration compactHashCheckTime,
    boolean initialCorruptCheck) {

  /** Nothing at all. */
  public static final UpkeepSettings NONE =
      new UpkeepSettings(Retention.Forever.INSTANCE, Duration.ZERO, Duration.ZERO, false);

  /** What automatic compaction keeps. */
  public sealed interface Retention {
    /** Everything. */
    enum Forever implements Retention {
      /** The only one. */
      INSTANCE
    }

    /** What is younger; above zero (AC1). */
    record Time(Duration time) implements Retention {}

    /** The newest revisions; above zero (AC2). */
    record Revisions(long revisions) implements Retention {}
  }
}
