package io.troupe.node;

/**
 * How the process ends, for supervisors (docs/operations.md). Stable: scripts rely on the numbers.
 */
public enum ExitCode {
  /** Something that none of the others names. */
  UNEXPECTED(1),
  /** A key or flag is unknown, or a value is not what it must be. */
  CONFIGURATION(2),
  /** Another process uses the data directory. */
  DATA_IN_USE(3),
  /** What is on disk is damaged, of another member, or of an unknown version. */
  DATA_CORRUPT(4),
  /** The disk is full, cannot be written, or reports errors. */
  DISK_FAILURE(5),
  /** A rule that must always hold is broken: a fault in the program. */
  INVARIANT(6),
  /** A listen address cannot be bound. */
  ADDRESS(7),
  /**
   * Memory of the process is exhausted: heap, buffers outside of it, or threads. The status that
   * bin/node arranges for the JVM itself: 128 and the number of SIGUSR1.
   */
  OUT_OF_MEMORY(138);

  private final int code;

  ExitCode(int code) {
    this.code = code;
  }

  /** The process's exit status. */
  public int code() {
    return code;
  }
}
