package io.troupe.persistence.snapshot;

/** Receives the durations of snapshot saves; called on the plugin's thread, never blocks. */
@FunctionalInterface
public interface SaveTimes {
  /** Ignores the durations. */
  SaveTimes NONE = (summedNanos, forcedNanos, totalNanos) -> {};

  /**
   * A snapshot was saved.
   *
   * @param summedNanos for checksums of the content and the bytes of the manifest
   * @param forcedNanos in forced writes: content, directories, manifest
   * @param totalNanos until the manifest was durable
   */
  void saved(long summedNanos, long forcedNanos, long totalNanos);
}
