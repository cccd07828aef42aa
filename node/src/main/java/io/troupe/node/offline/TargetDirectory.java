package io.troupe.node.offline;

import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.mvcc.OrderedStore;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.DurableFiles;
import io.troupe.persistence.datadir.MemberIdentity;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.store.RocksStore;
import io.troupe.persistence.wal.ChronicleWal;
import io.troupe.persistence.wal.WalReplay;
import io.troupe.persistence.wal.WalSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The data directory that a command builds.
 *
 * <p>The state contains the log up to some entry, and the log begins after it. So a member that
 * joins later never applies the log to an empty state. The identity is written last: a command that
 * is killed leaves a directory that no member accepts.
 *
 * @param walDir the log's own directory, or null if the log is in the data directory
 */
record TargetDirectory(Path dataDir, @Nullable Path walDir) {
  private static final RocksSettings STORE =
      new RocksSettings(32L << 20, 128L << 20, 2, RocksSettings.DEFAULT.maxOpenFiles(), 0);
  private static final WalSettings LOG = new WalSettings(64 << 20, 1 << 20);

  /** Fills a new state. */
  interface Content {
    /**
     * Fills the directory of the state before the store is opened.
     *
     * @param state empty
     */
    default void prepare(Path state) throws IOException {}

    /**
     * Writes to the store.
     *
     * @param store contains what was prepared; flushed and closed afterwards
     */
    Built write(OrderedStore store) throws IOException;
  }

  /**
   * Whose state it is, and which entries it contains.
   *
   * @param lastIndex index of the newest entry
   * @param term newest term
   */
  record Built(MemberIdentity identity, long lastIndex, long term) {}

  /**
   * Checks that nothing is overwritten.
   *
   * @throws CommandException in etcdutl's words
   */
  void requireUnused() {
    if (!isAbsentOrEmpty(dataDir)) {
      throw new CommandException("data-dir \"" + dataDir + "\" not empty or could not be read");
    }
    Path log = walDir;
    if (log != null && Files.exists(log)) {
      throw new CommandException("wal-dir \"" + log + "\" exists");
    }
  }

  private static boolean isAbsentOrEmpty(Path directory) {
    if (!Files.exists(directory)) {
      return true;
    }
    try (Stream<Path> content = Files.list(directory)) {
      return content.findAny().isEmpty();
    } catch (IOException e) {
      return false;
    }
  }

  /** Builds the directory. After a failure nothing remains that was not there before. */
  void build(Content content) throws IOException {
    boolean existed = Files.exists(dataDir);
    boolean built = false;
    try (DataDir files = DataDir.open(dataDir, walDir)) {
      files.bootstrap(write(files, content).identity());
      built = true;
    } finally {
      if (!built) {
        clear(dataDir, existed);
        Path log = walDir;
        if (log != null) {
          clear(log, false);
        }
      }
    }
  }

  private static Built write(DataDir files, Content content) throws IOException {
    Built built;
    content.prepare(files.state());
    try (RocksStore store = RocksStore.open(files.state(), STORE)) {
      built = content.write(store);
      store.flush();
    }
    WalReplay empty = WalReplay.read(files.wal(), 0);
    try (ChronicleWal log = ChronicleWal.open(files.wal(), LOG, empty)) {
      log.append(new HardState(built.term(), NodeId.NONE, built.lastIndex()), List.of());
      log.restartAfter(built.lastIndex());
    }
    return built;
  }

  /** After a failure. What cannot be deleted is named, because the next command refuses it. */
  private static void clear(Path directory, boolean keep) {
    try {
      if (!Files.exists(directory)) {
        return;
      }
      try (Stream<Path> content = Files.list(directory)) {
        for (Path each : content.toList()) {
          DurableFiles.deleteTree(each);
        }
      }
      if (!keep) {
        Files.delete(directory);
      }
    } catch (IOException e) {
      System.err.println("cannot delete " + directory + ", delete it by hand: " + e);
    }
  }
}
