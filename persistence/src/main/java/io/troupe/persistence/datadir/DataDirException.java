package io.troupe.persistence.datadir;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;

/** The data directory cannot be used. Its content was not changed. */
public final class DataDirException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Reason of the failure, one for each action of an operator. */
  public enum Reason {
    /** Another process holds the lock: stop it, or use another directory. */
    IN_USE,
    /** A file instead of a directory, missing permission, or a read-only file system. */
    UNUSABLE,
    /** Full disk or a failed device. */
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

  /**
   * Returns the exception for a failed file operation: UNUSABLE if the path or its permissions are
   * wrong, else NOT_WRITABLE.
   *
   * @param what begins the message, for example "cannot use /srv/data"
   */
  static DataDirException failed(String what, IOException cause) {
    String text = cause.getMessage() == null ? "" : cause.getMessage();
    if (cause instanceof FileAlreadyExistsException || text.endsWith(": Not a directory")) {
      return unusable(what + ": " + file(cause) + " is not a directory", cause);
    }
    if (cause instanceof AccessDeniedException || text.endsWith(": Operation not permitted")) {
      return unusable(
          what
              + ": user "
              + System.getProperty("user.name")
              + " has no permission for "
              + file(cause),
          cause);
    }
    if (text.endsWith(": Read-only file system")) {
      return unusable(what + ": " + file(cause) + " is on a read-only file system", cause);
    }
    return new DataDirException(Reason.NOT_WRITABLE, what + ": " + cause, cause);
  }

  private static DataDirException unusable(String text, IOException cause) {
    return new DataDirException(
        Reason.UNUSABLE, text + "; correct the path or its permissions", cause);
  }

  private static String file(IOException cause) {
    return cause instanceof FileSystemException failed
        ? String.valueOf(failed.getFile())
        : String.valueOf(cause.getMessage());
  }

  /** Returns the reason. */
  public Reason reason() {
    return reason;
  }
}
