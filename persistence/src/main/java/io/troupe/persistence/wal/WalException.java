package io.troupe.persistence.wal;

import org.jspecify.annotations.Nullable;

/** The log cannot be used any more. The member stops. */
public final class WalException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Kind of failure. */
  public enum Kind {
    /** The disk or a quota is full. Detected before the records were acknowledged. */
    DISK_FULL,
    /** Any other failure of the disk or of the log implementation. */
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

  /** Returns the kind of the failure. */
  public Kind kind() {
    return kind;
  }
}
