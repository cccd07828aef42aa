package io.troupe.node.offline;

import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.DataDirException;
import io.troupe.persistence.store.RocksSettings;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The data directory of a stopped member, as a flag of commands. */
final class StoppedMember {
  /** Memory of a command that reads a state. */
  static final RocksSettings STORE =
      new RocksSettings(32L << 20, 8L << 20, 2, RocksSettings.DEFAULT.maxOpenFiles(), 0);

  @Option(names = "--data-dir", description = "Data directory of a stopped member")
  private @Nullable Path dataDir;

  @Option(names = "--wal-dir", description = "Directory of the log; default: in the data directory")
  private @Nullable Path walDir;

  /** The directory that was given. */
  @Nullable Path dataDir() {
    return dataDir;
  }

  /**
   * Locks the directory, so that no member starts on it.
   *
   * @throws CommandException if it was not given, is not one of a member, or is in use
   */
  DataDir open() {
    Path root = dataDir;
    if (root == null) {
      throw new CommandException("required flag(s) \"data-dir\" not set");
    }
    if (!DataDir.hasOwner(root)) {
      throw new CommandException(
          root + " is not the data directory of a member: it has no identity");
    }
    try {
      return DataDir.open(root, walDir);
    } catch (DataDirException e) {
      throw new CommandException(String.valueOf(e.getMessage()));
    }
  }
}
