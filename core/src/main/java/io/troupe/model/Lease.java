package io.troupe.model;

/**
 * A lease as it is replicated (2.10). Only the leader knows its current remaining time.
 *
 * @param id any number but 0
 * @param ttlSeconds granted time to live
 * @param checkpointSeconds remaining time at the last checkpoint, or 0 if there is none (L12)
 */
public record Lease(long id, long ttlSeconds, long checkpointSeconds) {
  /** Time from which a new leader counts: the checkpoint, or the full time to live (L11). */
  public long countFromSeconds() {
    return checkpointSeconds > 0 ? checkpointSeconds : ttlSeconds;
  }
}
