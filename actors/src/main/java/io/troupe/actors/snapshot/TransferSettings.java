package io.troupe.actors.snapshot;

import java.time.Duration;

/**
 * How snapshots are sent.
 *
 * @param bytesPerSecond of all transfers of this member together; 1 MiB or more
 * @param chunkBytes maximum size of a chunk, 128 KiB at most: one frame
 * @param window chunks in flight to one follower, 1 or more
 * @param retry time without a reply after which the offer is repeated
 * @param giveUp time without progress after which a transfer fails
 */
public record TransferSettings(
    long bytesPerSecond, int chunkBytes, int window, Duration retry, Duration giveUp) {
  /** Default values for everything but the rate. */
  public static TransferSettings of(long bytesPerSecond) {
    return new TransferSettings(
        bytesPerSecond, 120 << 10, 16, Duration.ofSeconds(1), Duration.ofSeconds(30));
  }

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the setting
   */
  public TransferSettings {
    if (bytesPerSecond < 1 << 20) {
      throw new IllegalArgumentException("bytesPerSecond is out of range: " + bytesPerSecond);
    }
    if (chunkBytes < 1 || chunkBytes > 128 << 10) {
      throw new IllegalArgumentException("chunkBytes is out of range: " + chunkBytes);
    }
    if (window < 1) {
      throw new IllegalArgumentException("window is out of range: " + window);
    }
  }
}
