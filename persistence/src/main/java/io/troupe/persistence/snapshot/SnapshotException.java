package io.troupe.persistence.snapshot;

/** A snapshot cannot be written, read or used; the message names it. */
public final class SnapshotException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Kind of failure. */
  public enum Kind {
    /** The disk or a quota is full: no snapshot was created, retry after space was freed. */
    DISK_FULL,
    /** The disk failed otherwise. */
    IO,
    /** Manifest or content do not match their checksums: use another snapshot. */
    DAMAGED,
    /** Written by a version with another manifest format. */
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

  /** Returns the kind of the failure. */
  public Kind kind() {
    return kind;
  }
}
