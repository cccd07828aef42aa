package io.troupe.node.flags;

/** Ends the process with a text and a status, for an error, help or version. Has no stack trace. */
public final class FlagException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final String text;

  /**
   * Creates the exception.
   *
   * @param status 0 for text on standard output, else the text goes to standard error
   */
  FlagException(int status, String text) {
    super(text, null, false, false);
    this.status = status;
    this.text = text;
  }

  /** Returns the text to print. */
  public String text() {
    return text;
  }

  /**
   * Returns the exit status: 0 for help and version, 1 for wrong values, 2 for wrong flags (F3).
   */
  public int status() {
    return status;
  }
}
