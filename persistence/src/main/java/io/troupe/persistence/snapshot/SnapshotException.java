package io.troupe.persistence.snapshot;

/** A snapshot cannot be written, read or used; the message names it. */
public final class SnapshotException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What is wrong. */
  public enum Kind {
    /** The disk or a quota is full: nothing was announced, try again after space was freed. */
    DISK_FULL,
    /** The disk failed otherwise. */
    IO,
    /** Manifest or content do not fit their checksums: use another snapshot. */
    DAMAGED,
    /** Written by a version with another manifest. */
    WRONG_VERSION
  }

  private final Kind kind;

  public SnapshotException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  public SnapshotException(Kind kind, String message, Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  /** Which case it is. */
  public Kind kind() {
    return kind;
  }
}
