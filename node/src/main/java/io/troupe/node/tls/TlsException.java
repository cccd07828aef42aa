package io.troupe.node.tls;

/** TLS cannot be set up as configured. The message names the file or value and the reason. */
public final class TlsException extends RuntimeException {
  private static final long serialVersionUID = 1;

  TlsException(String message) {
    super(message);
  }

  TlsException(String message, Throwable cause) {
    super(message, cause);
  }
}
