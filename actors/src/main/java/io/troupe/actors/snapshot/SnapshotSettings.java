package io.troupe.actors.snapshot;

import java.time.Duration;

/**
 * When snapshots are taken, and how much of the log is kept before them.
 *
 * @param entries a snapshot is due after so many entries since the last one, 1 or more
 * @param logBytes a snapshot is due when the log after the last one has so many bytes
 * @param minInterval minimum time between the ends of two snapshots
 * @param receiverLogBytes maximum size of the log that is kept for a follower that received a
 *     snapshot and has not caught up yet
 */
public record SnapshotSettings(
    long entries, long logBytes, Duration minInterval, long receiverLogBytes) {
  /** Settings with log limits that tests with little data never reach. */
  public static SnapshotSettings of(long entries, Duration minInterval) {
    return new SnapshotSettings(entries, 256L << 20, minInterval, 2L << 30);
  }
}
