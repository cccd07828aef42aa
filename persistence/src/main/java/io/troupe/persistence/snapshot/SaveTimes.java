package io.troupe.persistence.snapshot;

/** Is told how long saves of snapshots took; on the plugin's thread, never blocks. */
@FunctionalInterface
public interface SaveTimes {
  /** Nobody wants to know. */
  SaveTimes NOBODY = (summedNanos, forcedNanos, totalNanos) -> {};

  /**
   * A snapshot was saved.
   *
   * @param summedNanos for checksums of the content and the manifest's bytes
   * @param forcedNanos in forced writes: content, directories, manifest
   * @param totalNanos until the manifest was durable
   */
  void saved(long summedNanos, long forcedNanos, long totalNanos);
}
