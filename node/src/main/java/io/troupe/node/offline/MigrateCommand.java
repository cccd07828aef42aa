package io.troupe.node.offline;

import io.troupe.node.logging.ProcessLogging;
import io.troupe.persistence.wal.ChronicleWal;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code migrate}: builds a data directory from that of a stopped etcd member. */
@Command(
    name = "migrate",
    description = "Builds a data directory from the data directory of a stopped etcd member",
    mixinStandardHelpOptions = true)
final class MigrateCommand implements Callable<Integer> {
  @Option(names = "--data-dir", description = "Data directory of etcd; is only read")
  private @Nullable Path source;

  @Option(
      names = "--wal-dir",
      description = "Directory of etcd's log; default: in the data directory")
  private @Nullable Path sourceWal;

  @Option(names = "--output", description = "New data directory; absent or empty")
  private @Nullable Path target;

  @Option(
      names = "--output-wal-dir",
      description = "Directory of the new log; default: in the new data directory")
  private @Nullable Path targetWal;

  @Option(
      names = "--name",
      description = "Name of the member to build; default: the one that owned the directory")
  private @Nullable String name;

  @Option(
      names = "--initial-cluster",
      description =
          "name=url of each member of a new cluster, separated by commas; default: the members and"
              + " ids of the old cluster are kept")
  private @Nullable String initialCluster;

  @Option(
      names = "--initial-cluster-token",
      defaultValue = "etcd-cluster",
      description = "With --initial-cluster: distinguishes the new cluster from others")
  private String token = "";

  @Option(
      names = "--initial-advertise-peer-urls",
      description = "With --initial-cluster: peer URLs of the member, separated by commas")
  private @Nullable String advertised;

  @Option(names = "--target-version", hidden = true)
  private @Nullable String storageVersion;

  /** The new cluster, or null if the old one is kept. */
  private @Nullable NewCluster newCluster() {
    String own = name;
    String urls = advertised;
    if (initialCluster == null && urls == null) {
      return null;
    }
    if (initialCluster == null || own == null || urls == null) {
      throw new CommandException(
          CommandException.BAD_ARGUMENTS,
          "a new cluster requires --name, --initial-cluster and --initial-advertise-peer-urls");
    }
    return NewCluster.of(initialCluster, own, urls, token);
  }

  @Override
  public Integer call() {
    if (storageVersion != null) {
      throw new CommandException(
          CommandException.BAD_ARGUMENTS,
          "--target-version is a flag of etcdutl migrate, which changes the storage version of an"
              + " etcd; this command moves the data of an etcd to Troupe: use --data-dir and"
              + " --output");
    }
    Path from = source;
    Path to = target;
    if (from == null || to == null) {
      throw new CommandException(
          CommandException.BAD_ARGUMENTS,
          "migrate requires --data-dir (of etcd) and --output (the new data directory)");
    }
    Path wal = sourceWal == null ? from.resolve("member").resolve("wal") : sourceWal;
    NewCluster cluster = newCluster();
    ProcessLogging.begin();
    ChronicleWal.prepare();
    long start = System.nanoTime();
    Migration.Migrated done =
        new Migration(
                new Migration.Source(from.resolve("member").resolve("snap").resolve("db"), wal),
                new TargetDirectory(to, targetWal),
                name,
                cluster)
            .run(new ProgressLine());
    System.err.printf(
        "migrated %s to %s: member %s (%s) of cluster %s, %d records and %d entries of the log,"
            + " revision %d, compacted revision %d, in %.1fs%n",
        from,
        to,
        done.identity().name(),
        done.identity().memberId(),
        Long.toHexString(done.identity().clusterId()),
        done.records(),
        done.entries(),
        done.revision(),
        done.compactedRevision(),
        (System.nanoTime() - start) / 1e9);
    System.err.printf(
        "last entry: term %d, index %d; %d entries were not known to be committed%n",
        done.lastTerm(), done.lastIndex(), done.assumed());
    return 0;
  }
}
