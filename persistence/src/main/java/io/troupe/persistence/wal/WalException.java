package io.troupe.persistence.wal;

import org.jspecify.annotations.Nullable;

/** The log cannot continue. The member stops. */
public final class WalException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What went wrong. */
  public enum Kind {
    /** No space, or over a quota. Noticed before the records in question were acknowledged. */
    DISK_FULL,
    /** Any other failure of the disk or of the log's machinery. */
    IO,
    /** An earlier call failed; its exception is the cause. */
    BROKEN,
    /** The log was closed. */
    CLOSED
  }

  private final Kind kind;

  public WalException(Kind kind, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  /** Which case it is. */
  public Kind kind() {
    return kind;
  }
}
