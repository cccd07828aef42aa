package io.troupe.node.offline;

import io.troupe.etcd.DatabaseImport;
import io.troupe.etcd.EtcdMembers;
import io.troupe.etcd.bolt.BoltReader;
import io.troupe.etcd.bolt.DamagedDatabaseException;
import io.troupe.mvcc.OrderedStore;
import io.troupe.mvcc.StoreException;
import io.troupe.node.process.Version;
import io.troupe.persistence.datadir.DataDirException;
import io.troupe.persistence.wal.WalException;
import java.io.IOException;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Builds the data directory of a member from a snapshot of Troupe or of etcd (SN2, SN3).
 *
 * <p>The state contains the log up to entry 1, which names the members. So all members that are
 * restored from one file start with the same state.
 */
final class SnapshotRestore {
  private static final long INDEX = 1;
  private static final long TERM = 1;

  private final RestoreSettings settings;
  private DatabaseImport.@Nullable Imported imported;

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
    settings.target().requireUnused();
    SnapshotFile.check(settings.snapshot(), settings.skipHashCheck());
    try (BoltReader file = BoltReader.open(settings.snapshot())) {
      settings.target().build(store -> restore(file, store, progress));
      return Objects.requireNonNull(imported);
    } catch (DamagedDatabaseException e) {
      throw new CommandException(settings.snapshot() + " is damaged: " + e.getMessage());
    } catch (IOException | StoreException | DataDirException | WalException e) {
      throw new CommandException(
          "cannot restore to " + settings.target().dataDir() + ": " + e.getMessage());
    }
  }

  private TargetDirectory.Built restore(
      BoltReader file, OrderedStore store, LongConsumer progress) {
    imported =
        DatabaseImport.read(
            file,
            store,
            new DatabaseImport.Cluster(
                EtcdMembers.ofVoters(settings.cluster().peerUrls()), INDEX, TERM),
            settings.revisions(),
            progress);
    return new TargetDirectory.Built(settings.cluster().identity(Version.product()), INDEX, TERM);
  }
}
