package io.troupe.grpc.error;

/**
 * Fails a call with a status that is not a {@code Refusal}. Has no stack trace, because it is not a
 * fault.
 */
public final class GrpcException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient GrpcStatus status;

  public GrpcException(int code, String message) {
    super(message, null, false, false);
    this.status = new GrpcStatus(code, message);
  }

  /** The status that the client receives. */
  public GrpcStatus status() {
    return status;
  }
}
