package io.troupe.ctl.command;

import io.troupe.ctl.text.Durations;
import java.time.Duration;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** The tree of all commands. */
public final class Commands {
  private Commands() {}

  /** A new tree, whose commands work on the session. */
  public static CommandLine root(Session session) {
    CommandSpec spec = CommandSpec.forAnnotatedObject(session.options());
    spec.name("ctl");
    spec.usageMessage().description("A command line client for Troupe and etcd v3.");
    CommandLine root =
        new CommandLine(spec)
            .addSubcommand(new MaintenanceCommands.Alarm(session))
            .addSubcommand(new AuthCommands(session))
            .addSubcommand(new CheckCommands(session))
            .addSubcommand(new KvCommands.Compaction(session))
            .addSubcommand(new InfoCommands.Completion(session))
            .addSubcommand(new MaintenanceCommands.Defrag(session))
            .addSubcommand(new KvCommands.Del(session))
            .addSubcommand(new DoctorCommand(session))
            .addSubcommand(new MaintenanceCommands.Downgrade(session))
            .addSubcommand(new LockCommands.Elect(session))
            .addSubcommand(new EndpointCommands(session))
            .addSubcommand(new KvCommands.Get(session))
            .addSubcommand(new LeaseCommands(session))
            .addSubcommand(new LockCommands.Lock(session))
            .addSubcommand(new MirrorCommand(session))
            .addSubcommand(new MemberCommands(session))
            .addSubcommand(new MaintenanceCommands.MoveLeader(session))
            .addSubcommand(new InfoCommands.Options(session))
            .addSubcommand(new KvCommands.Put(session))
            .addSubcommand(new RoleCommands(session))
            .addSubcommand(new SnapshotCommands(session))
            .addSubcommand(new TopCommand(session))
            .addSubcommand(new TxnCommand(session))
            .addSubcommand(new UserCommands(session))
            .addSubcommand(new InfoCommands.Version(session))
            .addSubcommand(new WatchCommand(session));
    return configure(root);
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
