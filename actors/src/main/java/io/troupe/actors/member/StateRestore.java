package io.troupe.actors.member;

import io.troupe.mvcc.StoreException;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.DataDirException;
import io.troupe.persistence.datadir.DataDirException.Reason;
import io.troupe.persistence.datadir.DurableFiles;
import io.troupe.persistence.snapshot.SnapshotDirectory;
import io.troupe.persistence.snapshot.SnapshotRef;
import io.troupe.persistence.wal.WalReplay;
import io.troupe.snapshot.LogTerms;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Restores the state directory from a snapshot, before any file is opened. */
final class StateRestore {
  private static final Logger LOG = LoggerFactory.getLogger(StateRestore.class);

  private StateRestore() {}

  /**
   * Returns true if there is a snapshot that the log continues and whose files have the right
   * sizes.
   */
  static boolean hasSuccessor(DataDir dataDir, WalReplay log) {
    return new SnapshotDirectory(dataDir.snapshots())
        .latest(log.lastIndex(), continuedBy(dataDir, log))
        .isPresent();
  }

  /**
   * The second half of the installation of another member's snapshot: the log begins after the
   * snapshot, and the state is older. The old state is replaced as a whole. A crash leaves the old
   * state, no state, or the new one, and MemberFiles or {@link #ifEmpty} continues from there. The
   * content is read once.
   *
   * @throws DataDirException CORRUPT if no snapshot that the log continues is undamaged; the old
   *     state is in place
   */
  static void replace(DataDir dataDir, WalReplay log) {
    SnapshotDirectory snapshots = new SnapshotDirectory(dataDir.snapshots());
    SnapshotRef snapshot =
        snapshots
            .latestVerified(log.lastIndex(), continuedBy(dataDir, log))
            .orElseThrow(() -> noSnapshot(dataDir, "is older than the log", log.compactedIndex()));
    LOG.info(
        "replacing the state, the log begins after a newer snapshot snapshot-index={}",
        snapshot.index());
    Path replaced = replaced(dataDir);
    try {
      DurableFiles.deleteTree(replaced);
      DurableFiles.rename(dataDir.state(), replaced);
      snapshots.restoreVerified(snapshot, dataDir.state());
      DurableFiles.deleteTree(replaced);
    } catch (IOException e) {
      throw new StoreException("cannot replace " + dataDir.state() + ": " + e, e);
    }
  }

  private static Predicate<SnapshotRef> continuedBy(DataDir dataDir, WalReplay log) {
    LogTerms terms = log.terms(dataDir.wal());
    return snapshot -> terms.continues(snapshot.index(), snapshot.term());
  }

  private static DataDirException noSnapshot(DataDir dataDir, String state, long compactedIndex) {
    return new DataDirException(
        Reason.CORRUPT,
        dataDir.state()
            + " "
            + state
            + ", and no undamaged snapshot in "
            + dataDir.snapshots()
            + " reaches the log, which begins after index "
            + compactedIndex
            + ": replace the member, or restore it from a backup");
  }

  private static Path replaced(DataDir dataDir) {
    return dataDir.state().resolveSibling("state.replaced");
  }

  /**
   * Restores an empty state directory from the newest snapshot. The log supplies the later entries.
   */
  static void ifEmpty(DataDir dataDir) {
    try {
      DurableFiles.deleteTree(replaced(dataDir));
      DurableFiles.createDirectory(dataDir.state());
    } catch (IOException e) {
      throw new StoreException("cannot create " + dataDir.state() + ": " + e, e);
    }
    try (Stream<Path> listed = Files.list(dataDir.state())) {
      List<Path> found = listed.toList();
      if (!found.stream().allMatch(StateRestore::isNativeLibrary)) {
        return;
      }
      for (Path leftover : found) {
        Files.delete(leftover);
      }
    } catch (IOException e) {
      throw new StoreException("cannot read " + dataDir.state() + ": " + e, e);
    }
    SnapshotDirectory snapshots = new SnapshotDirectory(dataDir.snapshots());
    WalReplay log = WalReplay.read(dataDir.wal(), Long.MAX_VALUE);
    boolean noLog = log.segments().isEmpty();
    Optional<SnapshotRef> newest =
        snapshots.latestVerified(
            noLog ? Long.MAX_VALUE : log.lastIndex(),
            noLog ? snapshot -> true : continuedBy(dataDir, log));
    if (newest.isEmpty() && log.compactedIndex() > 0) {
      throw noSnapshot(dataDir, "is empty", log.compactedIndex());
    }
    if (newest.isPresent()) {
      LOG.warn(
          "restoring the newest snapshot, the state directory is empty snapshot-index={}",
          newest.get().index());
      snapshots.restoreVerified(newest.get(), dataDir.state());
    }
  }

  /**
   * RocksDB unpacks its native library there to load it. A process that is killed can leave the
   * file.
   */
  private static boolean isNativeLibrary(Path file) {
    return String.valueOf(file.getFileName()).startsWith("librocksdbjni");
  }
}
