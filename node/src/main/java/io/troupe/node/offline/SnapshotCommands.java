package io.troupe.node.offline;

import io.troupe.etcd.DatabaseImport;
import io.troupe.node.logging.ProcessLogging;
import io.troupe.persistence.wal.ChronicleWal;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code snapshot status} and {@code snapshot restore} with the names, flags, texts and exit codes
 * of etcdutl (7.3, 8.4).
 */
@Command(
    name = "snapshot",
    description = "Commands on snapshot files",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND")
final class SnapshotCommands {
  private static final String DEFAULT_NAME = "default";
  private static final String DEFAULT_PEER_URL = "http://localhost:2380";

  @Command(
      name = "status",
      mixinStandardHelpOptions = true,
      description = "Checks a snapshot file and prints its content in short")
  int status(
      @Parameters(paramLabel = "FILE", arity = "0..*") List<Path> files, @Mixin OutputFlags flags) {
    OutputForm form = flags.form();
    Path file = onlyFile(files, "snapshot status requires exactly one argument");
    System.out.println(form.text(SnapshotStatus.of(file, flags.timeout()).row()));
    return 0;
  }

  @Command(
      name = "restore",
      mixinStandardHelpOptions = true,
      description = "Builds the data directory of a member of a new cluster from a snapshot file")
  int restore(
      @Parameters(paramLabel = "FILE", arity = "0..*") List<Path> files,
      @Option(
              names = "--data-dir",
              description = "Data directory; absent or empty; default: NAME.etcd")
          @Nullable Path dataDir,
      @Option(
              names = "--wal-dir",
              description = "Directory of the log; default: in the data directory")
          @Nullable Path walDir,
      @Option(names = "--name", defaultValue = DEFAULT_NAME, description = "Name of the member")
          String name,
      @Option(
              names = "--initial-cluster",
              defaultValue = DEFAULT_NAME + "=" + DEFAULT_PEER_URL,
              description = "name=url of each member of the new cluster, separated by commas")
          String initialCluster,
      @Option(
              names = "--initial-cluster-token",
              defaultValue = "etcd-cluster",
              description = "Distinguishes the new cluster from others with the same URLs")
          String token,
      @Option(
              names = "--initial-advertise-peer-urls",
              defaultValue = DEFAULT_PEER_URL,
              description = "Peer URLs of the member, separated by commas")
          String advertised,
      @Option(
              names = "--skip-hash-check",
              arity = "0..1",
              fallbackValue = "true",
              description = "For a file that was copied from a data directory")
          boolean skipHashCheck,
      @Option(
              names = "--bump-revision",
              defaultValue = "0",
              description = "Raises the revision by this number")
          long bump,
      @Option(
              names = "--mark-compacted",
              arity = "0..1",
              fallbackValue = "true",
              description = "Marks the raised revision as compacted; only with --bump-revision")
          boolean markCompacted,
      @Option(names = "--initial-memory-map-size", description = "Accepted, without effect")
          @Nullable Long ignored,
      @Mixin OutputFlags flags) {
    // Prints to standard error alone; as in etcdutl, a wrong form is an error all the same.
    flags.form();
    Path file = onlyFile(files, "snapshot restore requires exactly one argument");
    if (bump < 0 || (bump > 0) != markCompacted) {
      throw new CommandException(
          CommandException.BAD_ARGUMENTS, "--mark-compacted required if --revision-bump > 0");
    }
    RestoreSettings settings =
        new RestoreSettings(
            file,
            new TargetDirectory(dataDir == null ? Path.of(name + ".etcd") : dataDir, walDir),
            NewCluster.of(initialCluster, name, advertised, token),
            skipHashCheck,
            new DatabaseImport.Revisions(bump, markCompacted));
    ProcessLogging.begin();
    ChronicleWal.prepare();
    long start = System.nanoTime();
    DatabaseImport.Imported imported = new SnapshotRestore(settings).run(new ProgressLine());
    System.err.printf(
        "restored %s to %s: %d records, revision %d, compacted revision %d, in %.1fs%n",
        file,
        settings.target().dataDir(),
        imported.records(),
        imported.revision(),
        imported.compactedRevision(),
        (System.nanoTime() - start) / 1e9);
    return 0;
  }

  /**
   * The only argument.
   *
   * @throws CommandException with that text if there is none, or several
   */
  static Path onlyFile(@Nullable List<Path> files, String otherwise) {
    if (files == null || files.size() != 1) {
      throw new CommandException(CommandException.BAD_ARGUMENTS, otherwise);
    }
    return files.get(0);
  }
}
