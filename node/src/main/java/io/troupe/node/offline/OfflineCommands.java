package io.troupe.node.offline;

import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Commands on the files of a stopped member, and on those of etcd. */
@Command(
    name = "ctl",
    subcommands = {
      SnapshotCommands.class,
      BackupCommands.class,
      HashCommand.class,
      MigrateCommand.class,
      DefragCommand.class,
      WalCommands.class,
      DataCommands.class
    })
public final class OfflineCommands {
  private static final Set<String> NAMES =
      Set.of("snapshot", "backup", "hashkv", "migrate", "defrag", "wal", "data");

  private OfflineCommands() {}

  /**
   * True if the arguments are one of these commands.
   *
   * @param args of the process
   */
  public static boolean isCommand(String... args) {
    return args.length > 0 && NAMES.contains(args[0]);
  }

  /**
   * Runs a command, which prints to standard output, and errors to standard error.
   *
   * @param args as typed, with the name of the command
   * @return exit code: 0; 1 for a failure; 4 for an unknown output format; 128 for wrong arguments
   */
  public static int run(String... args) {
    CommandLine line = new CommandLine(new OfflineCommands());
    // As in etcdutl, the last one counts.
    line.setOverwrittenOptionsAllowed(true);
    line.setParameterExceptionHandler(
        (e, given) -> {
          System.err.println("Error: " + e.getMessage());
          return CommandException.BAD_ARGUMENTS;
        });
    line.setExecutionExceptionHandler(
        (e, command, parsed) -> {
          if (e instanceof CommandException refused) {
            System.err.println("Error: " + refused.getMessage());
            return refused.exitCode();
          }
          throw e;
        });
    return line.execute(args);
  }
}
