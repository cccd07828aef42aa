package io.troupe.server;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalLong;

/**
 * Decides when history is compacted automatically, and up to which revision (2.16). It reads no
 * clock: the caller calls {@link #due} once per {@link #interval}. Not thread-safe.
 */
public sealed interface AutoCompaction {
  /** Interval between two calls of {@link #due}. */
  Duration interval();

  /** Delay from the start to the first call of {@link #due}. */
  Duration initialDelay();

  /**
   * The revision to compact to, if compaction is due. Must be called on every member, so that a new
   * leader has the samples of the past.
   *
   * @param nowMs any monotonic clock
   * @param revision current revision of the store
   * @param leads whether this member leads; only the leader compacts (AC3)
   */
  OptionalLong due(long nowMs, long revision, boolean leads);

  /** The revision is compacted, by this or another client; not called after a failure. */
  void compacted(long nowMs, long revision);

  /** Keeps the history of a period (AC1). */
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
     * Creates a rule.
     *
     * @param retention above 0
     * @param nowMs start time of this member
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
    public Duration initialDelay() {
      return Duration.ZERO;
    }

    @Override
    public OptionalLong due(long nowMs, long revision, boolean leads) {
      // Once all samples are taken, the oldest is one retention old.
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
     * Creates a rule.
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

    /** After a restart, clients can still read the history from before it for this time. */
    @Override
    public Duration initialDelay() {
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
