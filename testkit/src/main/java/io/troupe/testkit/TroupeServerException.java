package io.troupe.testkit;

/** A {@link TroupeServer} cannot start, or one of its members stopped because of a failure. */
public final class TroupeServerException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  TroupeServerException(String message) {
    super(message);
  }

  TroupeServerException(String message, Throwable cause) {
    super(message, cause);
  }
}
