package io.troupe.ctl.cli;

import picocli.CommandLine;

/** The arguments name an unknown command or flag, or an invalid value. The exit code is 1. */
public final class UsageException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient CommandLine command;
  private final boolean withUsage;

  /**
   * @param command whose usage helps
   * @param withUsage whether it is printed
   */
  public UsageException(String message, CommandLine command, boolean withUsage) {
    super(message);
    this.command = command;
    this.withUsage = withUsage;
  }

  public CommandLine command() {
    return command;
  }

  public boolean isWithUsage() {
    return withUsage;
  }
}
