package io.troupe.protocol;

import io.troupe.model.Refusal;

/**
 * A refused request, passed through future chains of the gateway. Has no stack trace, because it is
 * not a fault.
 */
public final class RefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Refusal reason;

  public RefusedException(Refusal reason) {
    super(reason.name(), null, false, false);
    this.reason = reason;
  }

  /** Reason for the refusal. */
  public Refusal reason() {
    return reason;
  }
}
