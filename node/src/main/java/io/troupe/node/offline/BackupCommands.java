package io.troupe.node.offline;

import io.troupe.node.logging.ProcessLogging;
import io.troupe.node.offline.Row.Cell;
import io.troupe.persistence.backup.BackupException;
import io.troupe.persistence.backup.BackupManifest;
import io.troupe.persistence.backup.Backups;
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

    Backups backups() {
      if (from == null) {
        throw new CommandException(
            CommandException.BAD_ARGUMENTS, "required flag(s) \"from\" not set");
      }
      return new Backups(new DirectoryTarget(from));
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
      description = "Prints the backups, the newest first")
  int list(@Mixin Chosen chosen, @Mixin OutputFlags flags) {
    OutputForm form = flags.form();
    return refusable(
        () -> chosen.backups().list().forEach(each -> System.out.println(form.text(row(each)))));
  }

  private static Row row(BackupManifest backup) {
    String time = backup.time().toString();
    String member = Long.toHexString(backup.member());
    return new Row(
        List.of(
            new Cell("ID", "Id", "id", backup.id(), backup.id()),
            new Cell("TIME", "Time", "time", time, time),
            Cell.number("REVISION", "Revision", "revision", backup.revision()),
            Cell.number("INDEX", "Index", "index", backup.index()),
            Cell.number("BYTES", "Bytes", "bytes", backup.bytes()),
            new Cell("MEMBER", "Member", "member", member, member)));
  }

  @Command(
      name = "verify",
      mixinStandardHelpOptions = true,
      description = "Reads every byte of a backup and compares it with the checksums")
  int verify(@Mixin Chosen chosen) {
    return refusable(
        () -> {
          Backups backups = chosen.backups();
          BackupManifest backup = chosen.backup(backups);
          backups.verify(backup);
          System.out.printf(
              "backup %s is complete: %d files, %d bytes%n",
              backup.id(), backup.files().size(), backup.bytes());
        });
  }

  @Command(
      name = "restore",
      mixinStandardHelpOptions = true,
      description = {
        "Builds the data directories of a new cluster from a backup: of all its members below",
        "--output, or of one with --name and --data-dir"
      })
  int restore(
      @Mixin Chosen chosen,
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
    ChronicleWal.prepare();
    return refusable(
        () -> {
          Backups backups = chosen.backups();
          BackupManifest backup = chosen.backup(backups);
          targets.values().forEach(TargetDirectory::requireUnused);
          targets.forEach(
              (member, target) -> {
                long startNanos = System.nanoTime();
                new BackupRestore(backups, backup)
                    .run(target, NewCluster.of(initialCluster, member, token), bytes -> {});
                System.err.printf(
                    "restored backup %s to %s: member %s, revision %d, %d bytes, in %.1fs%n",
                    backup.id(),
                    target.dataDir(),
                    member,
                    backup.revision(),
                    backup.bytes(),
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
