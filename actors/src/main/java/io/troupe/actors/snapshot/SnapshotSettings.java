package io.troupe.actors.snapshot;

import java.time.Duration;

/**
 * When snapshots are taken, and how much of the log stays below them.
 *
 * @param entries a snapshot is due after so many entries since the last one, 1 or more
 * @param logBytes a snapshot is due when the log above the last one takes so many bytes
 * @param minInterval least time between the ends of two snapshots
 * @param receiverLogBytes most log that stays for a follower that got a snapshot and has not caught
 *     up yet
 */
public record SnapshotSettings(
    long entries, long logBytes, Duration minInterval, long receiverLogBytes) {
  /** Limits of the log that never apply in tests with little data. */
  public static SnapshotSettings of(long entries, Duration minInterval) {
    return new SnapshotSettings(entries, 256L << 20, minInterval, 2L << 30);
  }
}
