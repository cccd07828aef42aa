package io.troupe.node.offline;

import io.troupe.model.GoDuration;
import java.time.Duration;
import picocli.CommandLine.Option;

/** The global flags of etcdutl. */
final class OutputFlags {
  @Option(
      names = {"-w", "--write-out"},
      defaultValue = "simple",
      description = "simple, json, fields or table")
  private String form = "simple";

  @Option(
      names = "--timeout",
      defaultValue = "10s",
      description = "How long to wait for the lock of a file that another process uses; 0: forever")
  private String timeout = "10s";

  /**
   * The form of the output.
   *
   * @throws CommandException if it is unknown
   */
  OutputForm form() {
    return OutputForm.named(form);
  }

  /**
   * Limit of a wait for a lock; 0 for none.
   *
   * @throws CommandException if it is no duration
   */
  Duration timeout() {
    try {
      return GoDuration.parse(timeout);
    } catch (IllegalArgumentException e) {
      throw new CommandException(
          CommandException.BAD_ARGUMENTS,
          "invalid argument \"" + timeout + "\" for \"--timeout\" flag: time: " + e.getMessage());
    }
  }
}
