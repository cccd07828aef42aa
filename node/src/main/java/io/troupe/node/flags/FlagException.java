package io.troupe.node.flags;

/** Ends a start, or a call for help, with a text and a status. Has no stack trace. */
public final class FlagException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final String text;

  /**
   * An end.
   *
   * @param status 0 for an answer on standard output, else the text goes to standard error
   */
  FlagException(int status, String text) {
    super(text, null, false, false);
    this.status = status;
    this.text = text;
  }

  /** What is to be printed. */
  public String text() {
    return text;
  }

  /** Of the process: 0 for help and version, 1 for wrong values, 2 for wrong flags (F3). */
  public int status() {
    return status;
  }
}
