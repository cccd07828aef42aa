package io.troupe.node.process;

import java.util.Locale;

/**
 * Exit codes of the process, for supervisors (docs/operations.md). Stable: scripts rely on the
 * numbers.
 */
public enum ExitCode {
  /** Any failure that no other code names. */
  UNEXPECTED(1),
  /** A key or flag is unknown, or a value is not what it must be. */
  CONFIGURATION(2),
  /** Another process uses the data directory. */
  DATA_IN_USE(3),
  /** The data on disk is damaged, belongs to another member, or has an unknown version. */
  DATA_CORRUPT(4),
  /** The disk is full or reports errors. */
  DISK_FAILURE(5),
  /** An invariant is violated: a fault in the program. */
  INVARIANT(6),
  /** A listen address cannot be bound. */
  ADDRESS(7),
  /** The data directory is a file, on a read-only file system, or not writable by this user. */
  DATA_UNUSABLE(8),
  /**
   * Memory of the process is exhausted: heap, buffers outside of it, or threads. The status that
   * bin/node arranges for the JVM itself: 128 and the number of SIGUSR1.
   */
  OUT_OF_MEMORY(138);

  private final int code;

  ExitCode(int code) {
    this.code = code;
  }

  /** Returns the name in log lines, for example {@code disk-failure}. */
  public String cause() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The process's exit status. */
  public int code() {
    return code;
  }
}
