package io.troupe.ctl.cli;

/** Ends the command: the message goes to standard error after {@code Error: }. */
public final class CtlException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitCode;
  private final boolean silent;

  /**
   * @param exitCode one of {@link ExitCode}, or the status of a command that ctl ran
   */
  public CtlException(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
    this.silent = false;
  }

  private CtlException(int exitCode) {
    super("exit " + exitCode);
    this.exitCode = exitCode;
    this.silent = true;
  }

  /** The command has already printed what went wrong. */
  public static CtlException silent(int exitCode) {
    return new CtlException(exitCode);
  }

  /** Wrong arguments of a command. */
  public static CtlException arguments(String message) {
    return new CtlException(ExitCode.BAD_ARGUMENTS, message);
  }

  public int exitCode() {
    return exitCode;
  }

  /** Whether no message is printed. */
  public boolean isSilent() {
    return silent;
  }
}
