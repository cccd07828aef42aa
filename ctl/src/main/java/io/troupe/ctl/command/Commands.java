package io.troupe.ctl.command;

import io.troupe.ctl.text.Durations;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** The tree of all commands. */
public final class Commands {
  private Commands() {}

  /** A new tree, whose commands work on the session. */
  public static CommandLine root(Session session) {
    return root(session, List.of());
  }

  /**
   * A new tree with the commands that the arguments may mean; with all if they mean none. A command
   * line needs one command, and a tree of all takes most of the time of a short command.
   */
  public static CommandLine root(Session session, List<String> args) {
    CommandSpec spec = CommandSpec.forAnnotatedObject(session.options());
    spec.name("ctl");
    spec.usageMessage()
        .description(
            "A command line client for Troupe and etcd v3.",
            "Commands on files: snapshot status, snapshot restore, backup list,"
                + " backup verify, backup restore, hashkv, migrate, wal, data, defrag --data-dir.");
    CommandLine root = new CommandLine(spec);
    Map<String, Function<Session, Object>> all = all();
    boolean named = all.keySet().stream().anyMatch(name -> mayMean(args, name));
    all.forEach(
        (name, command) -> {
          if (!named || mayMean(args, name)) {
            root.addSubcommand(command.apply(session));
          }
        });
    return configure(root);
  }

  private static boolean mayMean(List<String> args, String command) {
    return args.stream().anyMatch(arg -> !arg.isEmpty() && command.startsWith(arg));
  }

  private static Map<String, Function<Session, Object>> all() {
    Map<String, Function<Session, Object>> commands = new LinkedHashMap<>();
    commands.put("alarm", MaintenanceCommands.Alarm::new);
    commands.put("auth", AuthCommands::new);
    commands.put("backup", BackupCommands::new);
    commands.put("check", CheckCommands::new);
    commands.put("compaction", KvCommands.Compaction::new);
    commands.put("completion", InfoCommands.Completion::new);
    commands.put("defrag", MaintenanceCommands.Defrag::new);
    commands.put("del", KvCommands.Del::new);
    commands.put("doctor", DoctorCommand::new);
    commands.put("downgrade", MaintenanceCommands.Downgrade::new);
    commands.put("elect", LockCommands.Elect::new);
    commands.put("endpoint", EndpointCommands::new);
    commands.put("get", KvCommands.Get::new);
    commands.put("lease", LeaseCommands::new);
    commands.put("lock", LockCommands.Lock::new);
    commands.put("make-mirror", MirrorCommand::new);
    commands.put("member", MemberCommands::new);
    commands.put("move-leader", MaintenanceCommands.MoveLeader::new);
    commands.put("options", InfoCommands.Options::new);
    commands.put("put", KvCommands.Put::new);
    commands.put("role", RoleCommands::new);
    commands.put("snapshot", SnapshotCommands::new);
    commands.put("top", TopCommand::new);
    commands.put("txn", TxnCommand::new);
    commands.put("user", UserCommands::new);
    commands.put("version", InfoCommands.Version::new);
    commands.put("watch", WatchCommand::new);
    return commands;
  }

  /** Values are passed unchanged: no files of arguments, no quotes, no ends of options. */
  static CommandLine configure(CommandLine command) {
    return command
        .setExpandAtFiles(false)
        .setTrimQuotes(false)
        .setOverwrittenOptionsAllowed(true)
        .registerConverter(Duration.class, Durations::parse);
  }
}
