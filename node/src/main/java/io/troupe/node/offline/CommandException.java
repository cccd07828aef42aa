package io.troupe.node.offline;

/**
 * A command cannot be executed. The message is for the operator, in etcdutl's words where it has
 * some.
 */
final class CommandException extends RuntimeException {
  /** Exit code for wrong arguments (CT3). */
  static final int BAD_ARGUMENTS = 128;

  private static final long serialVersionUID = 1L;

  private final int exitCode;

  CommandException(String message) {
    this(1, message);
  }

  CommandException(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  int exitCode() {
    return exitCode;
  }
}
