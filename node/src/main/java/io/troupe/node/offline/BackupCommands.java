package io.troupe.node.offline;

import io.troupe.node.logging.ProcessLogging;
import io.troupe.node.offline.Row.Cell;
import io.troupe.persistence.backup.BackupException;
import io.troupe.persistence.backup.BackupLog;
import io.troupe.persistence.backup.BackupManifest;
import io.troupe.persistence.backup.Backups;
import io.troupe.persistence.backup.Continuation;
import io.troupe.persistence.backup.DirectoryTarget;
import io.troupe.persistence.wal.ChronicleWal;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code backup list}, {@code backup verify} and {@code backup restore}. */
@Command(
    name = "backup",
    description = "Commands on the backups that members write (troupe.backup)",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND")
final class BackupCommands {
  /** Where the backups are, and which one is meant. */
  static final class Chosen {
    @Option(names = "--from", description = "Directory of the backups")
    private @Nullable Path from;

    @Option(names = "--id", defaultValue = "", description = "The backup; default: the newest")
    private String id = "";

    private DirectoryTarget target() {
      if (from == null) {
        throw new CommandException(
            CommandException.BAD_ARGUMENTS, "required flag(s) \"from\" not set");
      }
      return new DirectoryTarget(from);
    }

    Backups backups() {
      return new Backups(target());
    }

    BackupLog log() {
      return new BackupLog(target());
    }

    BackupManifest backup(Backups backups) {
      return backups.find(id);
    }
  }

  private interface Work {
    void run();
  }

  /** The failure of a backup is a text for the operator. */
  private static int refusable(Work work) {
    ProcessLogging.begin();
    try {
      work.run();
      return 0;
    } catch (BackupException e) {
      throw new CommandException(String.valueOf(e.getMessage()));
    }
  }

  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      description = {
        "Prints the backups, the newest first. LOG REVISION and LOG TIME: what a restore reaches",
        "with the log after the backup"
      })
  int list(@Mixin Chosen chosen, @Mixin OutputFlags flags) {
    OutputForm form = flags.form();
    return refusable(
        () ->
            chosen
                .log()
                .after(chosen.backups().list())
                .forEach(each -> System.out.println(form.text(row(each)))));
  }

  private static Row row(Continuation log) {
    BackupManifest backup = log.backup();
    String time = backup.time().toString();
    String member = Long.toHexString(backup.member());
    Continuation.Reach reach = reach(log);
    String reachTime = reach.time().toString();
    return new Row(
        List.of(
            new Cell("ID", "Id", "id", backup.id(), backup.id()),
            new Cell("TIME", "Time", "time", time, time),
            Cell.number("REVISION", "Revision", "revision", backup.revision()),
            Cell.number("INDEX", "Index", "index", backup.index()),
            Cell.number("BYTES", "Bytes", "bytes", backup.bytes()),
            new Cell("MEMBER", "Member", "member", member, member),
            Cell.number("LOG REVISION", "LogRevision", "logRevision", reach.revision()),
            new Cell("LOG TIME", "LogTime", "logTime", reachTime, reachTime)));
  }

  /** A damaged log does not hide the backup. */
  private static Continuation.Reach reach(Continuation log) {
    try {
      return log.reach();
    } catch (BackupException damaged) {
      System.err.println("Warning: " + damaged.getMessage());
      BackupManifest backup = log.backup();
      return new Continuation.Reach(backup.index(), backup.revision(), backup.time());
    }
  }

  @Command(
      name = "verify",
      mixinStandardHelpOptions = true,
      description = {
        "Reads every byte of a backup, and of the log after it, and compares it with the checksums"
      })
  int verify(@Mixin Chosen chosen) {
    return refusable(
        () -> {
          Backups backups = chosen.backups();
          BackupManifest backup = chosen.backup(backups);
          backups.verify(backup);
          System.out.printf(
              "backup %s is complete: %d files, %d bytes%n",
              backup.id(), backup.files().size(), backup.bytes());
          Continuation log = chosen.log().after(backup);
          log.read((entries, part) -> true);
          Continuation.Reach reach = log.reach();
          System.out.printf(
              "the log after it is complete: %d files, up to entry %d, revision %d, %s%n",
              log.parts().size(), reach.index(), reach.revision(), reach.time());
        });
  }

  @Command(
      name = "restore",
      mixinStandardHelpOptions = true,
      description = {
        "Builds the data directories of a new cluster from a backup: of all its members below",
        "--output, or of one with --name and --data-dir. The state is the newest one in the",
        "directory, that of --revision or --time, or that of the backup --id"
      })
  int restore(
      @Mixin Chosen chosen,
      @Option(names = "--revision", description = "The newest revision of the restored state")
          @Nullable Long revision,
      @Option(
              names = "--time",
              description = {
                "The restored state is of this moment, or up to one log-interval older;",
                "ISO 8601 with an offset: 2026-11-26T03:04:05Z"
              })
          @Nullable String time,
      @Option(
              names = "--initial-cluster",
              required = true,
              description = "name=url of each member of the new cluster, separated by commas")
          String initialCluster,
      @Option(
              names = "--initial-cluster-token",
              defaultValue = "etcd-cluster",
              description = "Distinguishes the new cluster from others with the same URLs")
          String token,
      @Option(
              names = "--output",
              description = "Directory for the data directories of all members, by name")
          @Nullable Path output,
      @Option(names = "--name", description = "The only member to build") @Nullable String name,
      @Option(names = "--data-dir", description = "Data directory of that member")
          @Nullable Path dataDir,
      @Option(names = "--wal-dir", description = "Directory of its log") @Nullable Path walDir) {
    Map<String, TargetDirectory> targets = targets(initialCluster, output, name, dataDir, walDir);
    RestoreGoal goal = RestoreGoal.of(chosen.id, revision, time);
    return refusable(
        () -> {
          ChronicleWal.prepare();
          Backups backups = chosen.backups();
          List<BackupManifest> candidates =
              chosen.id.isEmpty() ? backups.list() : List.of(chosen.backup(backups));
          if (candidates.isEmpty()) {
            // Says so.
            candidates = List.of(chosen.backup(backups));
          }
          Continuation log = chosen.log().after(goal.base(candidates));
          targets.values().forEach(TargetDirectory::requireUnused);
          targets.forEach(
              (member, target) -> {
                long startNanos = System.nanoTime();
                LogReplay.Reached reached =
                    new BackupRestore(backups, log, goal)
                        .run(target, NewCluster.of(initialCluster, member, token), bytes -> {});
                System.err.printf(
                    "restored backup %s and %d entries of the log after it to %s: member %s,"
                        + " revision %d of %s, in %.1fs%n",
                    log.backup().id(),
                    reached.index() - log.backup().index(),
                    target.dataDir(),
                    member,
                    reached.revision(),
                    reached.time(),
                    (System.nanoTime() - startNanos) / 1e9);
              });
        });
  }

  private static Map<String, TargetDirectory> targets(
      String initialCluster,
      @Nullable Path output,
      @Nullable String name,
      @Nullable Path dataDir,
      @Nullable Path walDir) {
    Map<String, TargetDirectory> targets = new LinkedHashMap<>();
    if (output != null && name == null && dataDir == null && walDir == null) {
      NewCluster.names(initialCluster)
          .forEach(each -> targets.put(each, new TargetDirectory(output.resolve(each), null)));
    } else if (output == null && name != null && dataDir != null) {
      targets.put(name, new TargetDirectory(dataDir, walDir));
    } else {
      throw new CommandException(
          CommandException.BAD_ARGUMENTS,
          "expected --output, or --name and --data-dir (and --wal-dir)");
    }
    return targets;
  }
}
