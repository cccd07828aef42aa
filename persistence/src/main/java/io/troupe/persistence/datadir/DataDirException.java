package io.troupe.persistence.datadir;

/** The data directory cannot be used. Its content was not changed. */
public final class DataDirException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Reason of the failure, one for each action of an operator. */
  public enum Reason {
    /** Another process holds the lock: stop it, or use another directory. */
    IN_USE,
    /** Missing permission, read-only file system or full disk. */
    NOT_WRITABLE,
    /** Written by a version with another layout. */
    WRONG_VERSION,
    /** Belongs to another member or cluster, or is not a data directory. */
    FOREIGN,
    /** The log is not in the configured directory: correct the configuration. */
    LOG_ELSEWHERE,
    /** The identity file is damaged, or missing although there is a log: restore from a backup. */
    CORRUPT
  }

  private final Reason reason;

  public DataDirException(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  public DataDirException(Reason reason, String message, Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  /** Returns the reason. */
  public Reason reason() {
    return reason;
  }
}
