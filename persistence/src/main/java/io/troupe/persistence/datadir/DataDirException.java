package io.troupe.persistence.datadir;

/** The data directory cannot be used. The directory was left as it was found. */
public final class DataDirException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Why, one case per thing an operator would do. */
  public enum Reason {
    /** Another process holds the lock: stop it, or use another directory. */
    IN_USE,
    /** Missing permission, read-only file system or full disk. */
    NOT_WRITABLE,
    /** Written by a version with another layout. */
    WRONG_VERSION,
    /** Belongs to another member or cluster, or is no data directory of this program at all. */
    FOREIGN,
    /** The log is not where the configuration says: correct it. */
    LOG_ELSEWHERE,
    /** The identity file is damaged, or missing beside a log: restore from a backup. */
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

  /** Which case it is. */
  public Reason reason() {
    return reason;
  }
}
