package io.troupe.grpc.service;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalLong;

/**
 * When history is compacted by itself, and up to which revision (2.16). Knows no clock: it is asked
 * once in each {@link #interval}. Not thread-safe.
 */
public sealed interface AutoCompaction {
  /** Between two questions. */
  Duration interval();

  /** From the start to the first question. */
  Duration firstLook();

  /**
   * The revision to compact to, if it is time for that. To be asked on every member, so that
   * whoever becomes leader knows what was when.
   *
   * @param nowMs any clock that does not jump
   * @param revision of the store now
   * @param leads whether this member leads: only then is there an answer (AC3)
   */
  OptionalLong due(long nowMs, long revision, boolean leads);

  /** That revision is compacted, by whomever; after a failure this is not called. */
  void compacted(long nowMs, long revision);

  /** Keeps what is younger than a time (AC1). */
  final class Periodic implements AutoCompaction {
    private static final Duration LONGEST = Duration.ofHours(1);
    private static final int SAMPLES_PER_PERIOD = 10;
    private static final long MOST_SAMPLES = 1_000_000;

    private final Duration period;
    private final Duration sampling;
    private final int kept;
    private final Deque<Long> samples = new ArrayDeque<>();
    private long waitMs;
    private long lastMs;
    private Long last = -1L;

    /**
     * A rule.
     *
     * @param retention above 0
     * @param nowMs when this member began
     */
    public Periodic(Duration retention, long nowMs) {
      this.period = retention.compareTo(LONGEST) < 0 ? retention : LONGEST;
      this.sampling = Duration.ofMillis(Math.max(1, period.toMillis() / SAMPLES_PER_PERIOD));
      this.kept = (int) Math.min(MOST_SAMPLES, retention.toMillis() / sampling.toMillis());
      this.waitMs = retention.toMillis();
      this.lastMs = nowMs;
    }

    @Override
    public Duration interval() {
      return sampling;
    }

    @Override
    public Duration firstLook() {
      return Duration.ZERO;
    }

    @Override
    public OptionalLong due(long nowMs, long revision, boolean leads) {
      // When all that are kept are there, the oldest is one retention old.
      OptionalLong due = OptionalLong.empty();
      Long oldest = samples.peekFirst();
      if (leads && oldest != null && nowMs - lastMs >= waitMs && !oldest.equals(last)) {
        due = OptionalLong.of(oldest);
      }
      samples.addLast(revision);
      if (samples.size() > kept) {
        samples.removeFirst();
      }
      return due;
    }

    @Override
    public void compacted(long nowMs, long revision) {
      last = revision;
      lastMs = nowMs;
      waitMs = period.toMillis();
    }
  }

  /** Keeps a number of revisions (AC2). */
  final class ByRevision implements AutoCompaction {
    private static final Duration INTERVAL = Duration.ofMinutes(5);

    private final long retention;
    private long last;

    /**
     * A rule.
     *
     * @param retention revisions, above 0
     */
    public ByRevision(long retention) {
      this.retention = retention;
    }

    @Override
    public Duration interval() {
      return INTERVAL;
    }

    /** Whoever comes back after a restart still finds what was there before it. */
    @Override
    public Duration firstLook() {
      return INTERVAL;
    }

    @Override
    public OptionalLong due(long nowMs, long revision, boolean leads) {
      long to = revision - retention;
      return leads && to > 0 && to != last ? OptionalLong.of(to) : OptionalLong.empty();
    }

    @Override
    public void compacted(long nowMs, long revision) {
      last = revision;
    }
  }
}
