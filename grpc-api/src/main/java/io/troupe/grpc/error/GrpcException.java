package io.troupe.grpc.error;

/**
 * Ends a call with a status that is not one of the refusals. Has no stack trace: it is not a fault.
 */
public final class GrpcException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient GrpcStatus status;

  public GrpcException(int code, String message) {
    super(message, null, false, false);
    this.status = new GrpcStatus(code, message);
  }

  /** What the client gets. */
  public GrpcStatus status() {
    return status;
  }
}
