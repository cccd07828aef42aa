package io.troupe.ctl.client;

/** The login failed, so no call was made. */
public final class LoginException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  LoginException(RpcException cause) {
    super(cause.getMessage(), cause);
  }

  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }
}
