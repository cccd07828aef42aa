package io.troupe.node.process;

/**
 * Exit codes of the process, for supervisors (docs/operations.md). Stable: scripts rely on the
 * numbers.
 */
public enum ExitCode {
  /** Any failure that no other code names. */
  UNEXPECTED(1, "unexpected"),
  /** A key or flag is unknown, or a value is not what it must be. */
  CONFIGURATION(2, "configuration"),
  /** Another process uses the data directory. */
  DATA_IN_USE(3, "data-in-use"),
  /** The data on disk is damaged, belongs to another member, or has an unknown version. */
  DATA_CORRUPT(4, "data"),
  /** The disk is full or reports errors. */
  DISK_FAILURE(5, "disk"),
  /** An invariant is violated: a fault in the program. */
  INVARIANT(6, "invariant"),
  /** A listen address cannot be bound. */
  ADDRESS(7, "address"),
  /** The data directory is a file, on a read-only file system, or not writable by this user. */
  DATA_UNUSABLE(8, "data-directory"),
  /** The program is older than the cluster or than the data, or does not fit the other members. */
  VERSION(9, "version"),
  /**
   * Memory of the process is exhausted: heap, buffers outside of it, or threads. The status that
   * bin/node arranges for the JVM itself: 128 and the number of SIGUSR1.
   */
  OUT_OF_MEMORY(138, "memory");

  private final int code;
  private final String cause;

  ExitCode(int code, String cause) {
    this.code = code;
    this.cause = cause;
  }

  /** Returns the word in log lines, for example {@code disk}. */
  public String cause() {
    return cause;
  }

  /** The process's exit status. */
  public int code() {
    return code;
  }
}
