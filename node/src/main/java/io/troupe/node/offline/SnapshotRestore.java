package io.troupe.node.offline;

import io.troupe.etcd.DatabaseImport;
import io.troupe.etcd.bolt.BoltReader;
import io.troupe.etcd.bolt.DamagedDatabaseException;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.mvcc.StoreException;
import io.troupe.node.process.Version;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.DataDirException;
import io.troupe.persistence.datadir.DurableFiles;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.store.RocksStore;
import io.troupe.persistence.wal.ChronicleWal;
import io.troupe.persistence.wal.WalException;
import io.troupe.persistence.wal.WalReplay;
import io.troupe.persistence.wal.WalSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Builds the data directory of a member from a snapshot of Troupe or of etcd (SN2, SN3).
 *
 * <p>The state contains the log up to entry 1, which names the members; the log begins after it. So
 * all members that are restored from one file start with the same state, and a member that joins
 * later never applies the log to an empty one. The identity is written last: a restore that is
 * killed leaves a directory that no member accepts.
 */
final class SnapshotRestore {
  private static final long INDEX = 1;
  private static final long TERM = 1;
  private static final RocksSettings STORE =
      new RocksSettings(32L << 20, 128L << 20, 2, RocksSettings.DEFAULT.maxOpenFiles(), 0);
  private static final WalSettings LOG = new WalSettings(64 << 20, 1 << 20);

  private final RestoreSettings settings;

  SnapshotRestore(RestoreSettings settings) {
    this.settings = settings;
  }

  /**
   * Runs the restore.
   *
   * @param progress receives the number of records so far, now and then
   * @throws CommandException if it is impossible; nothing remains that was not there before
   */
  DatabaseImport.Imported run(LongConsumer progress) {
    Path dataDir = settings.dataDir();
    Path walDir = settings.walDir();
    if (!isAbsentOrEmpty(dataDir)) {
      throw new CommandException("data-dir \"" + dataDir + "\" not empty or could not be read");
    }
    if (walDir != null && Files.exists(walDir)) {
      throw new CommandException("wal-dir \"" + walDir + "\" exists");
    }
    SnapshotFile.check(settings.snapshot(), settings.skipHashCheck());
    boolean existed = Files.exists(dataDir);
    DatabaseImport.@Nullable Imported imported = null;
    try (BoltReader file = BoltReader.open(settings.snapshot())) {
      imported = restore(file, progress);
      return imported;
    } catch (DamagedDatabaseException e) {
      throw new CommandException(settings.snapshot() + " is damaged: " + e.getMessage());
    } catch (IOException | StoreException | DataDirException | WalException e) {
      throw new CommandException("cannot restore to " + dataDir + ": " + e.getMessage());
    } finally {
      if (imported == null) {
        clear(dataDir, existed);
        if (walDir != null) {
          clear(walDir, false);
        }
      }
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

  private DatabaseImport.Imported restore(BoltReader file, LongConsumer progress) {
    try (DataDir dataDir = DataDir.open(settings.dataDir(), settings.walDir())) {
      DatabaseImport.Imported imported;
      try (RocksStore store = RocksStore.open(dataDir.state(), STORE)) {
        imported =
            DatabaseImport.read(
                file,
                store,
                new DatabaseImport.Cluster(settings.peerUrls(), INDEX, TERM),
                settings.revisions(),
                progress);
        store.flush();
      }
      WalReplay empty = WalReplay.read(dataDir.wal(), 0);
      try (ChronicleWal log = ChronicleWal.open(dataDir.wal(), LOG, empty)) {
        log.append(new HardState(TERM, NodeId.NONE, INDEX), List.of());
        log.restartAfter(INDEX);
      }
      dataDir.bootstrap(settings.identity(Version.product()));
      return imported;
    }
  }

  /** After a failure. What cannot be deleted is named, because the next restore refuses it. */
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
