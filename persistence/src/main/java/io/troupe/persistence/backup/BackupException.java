package io.troupe.persistence.backup;

/** A backup cannot be written, is damaged, or does not exist. The message is for operators. */
public final class BackupException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** With a text that names the backup or the file. */
  public BackupException(String message) {
    super(message);
  }

  /** With its cause. */
  public BackupException(String message, Throwable cause) {
    super(message, cause);
  }
}
