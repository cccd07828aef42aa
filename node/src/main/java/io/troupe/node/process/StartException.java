package io.troupe.node.process;

/** The member cannot start. The message is one line for the operator. */
public final class StartException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ExitCode exitCode;

  public StartException(ExitCode exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  public StartException(ExitCode exitCode, String message, Throwable cause) {
    super(message, cause);
    this.exitCode = exitCode;
  }

  /** Returns the exit code of the process. */
  public ExitCode exitCode() {
    return exitCode;
  }
}
