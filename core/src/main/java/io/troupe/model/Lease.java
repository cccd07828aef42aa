package io.troupe.model;

/**
 * A lease as it is replicated (2.10). How much of it is left now is known to the leader alone.
 *
 * @param id any number but 0
 * @param ttlSeconds granted time to live
 * @param checkpointSeconds what was left at the last checkpoint, or 0 when there is none (L12)
 */
public record Lease(long id, long ttlSeconds, long checkpointSeconds) {
  /** What a new leader counts from: the checkpoint, or all of it (L11). */
  public long countFromSeconds() {
    return checkpointSeconds > 0 ? checkpointSeconds : ttlSeconds;
  }
}
