package io.troupe.actors.member;

import io.troupe.mvcc.StoreException;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.DataDirException;
import io.troupe.persistence.datadir.DataDirException.Reason;
import io.troupe.persistence.datadir.DurableFiles;
import io.troupe.persistence.snapshot.SnapshotDirectory;
import io.troupe.persistence.snapshot.SnapshotRef;
import io.troupe.persistence.wal.WalReplay;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A state directory that is made anew from a snapshot, before anything is opened. */
final class StateRestore {
  private static final Logger LOG = LoggerFactory.getLogger(StateRestore.class);

  private StateRestore() {}

  /**
   * The second half of installing another member's snapshot: the log begins behind it, the state is
   * older. The old state gives way as a whole; a crash leaves the old one, none, or the new one,
   * and MemberFiles or {@link #ifEmpty} goes on from there.
   */
  static void replace(DataDir dataDir, SnapshotRef snapshot) {
    LOG.info(
        "the log begins behind a snapshot that is newer than the state, replacing the state"
            + " snapshot-index={}",
        snapshot.index());
    SnapshotDirectory snapshots = new SnapshotDirectory(dataDir.snapshots());
    Path replaced = replaced(dataDir);
    try {
      snapshots.verify(snapshot);
      DurableFiles.deleteTree(replaced);
      DurableFiles.rename(dataDir.state(), replaced);
      snapshots.restore(snapshot, dataDir.state());
      DurableFiles.deleteTree(replaced);
    } catch (IOException e) {
      throw new StoreException("cannot replace " + dataDir.state() + ": " + e, e);
    }
  }

  /**
   * The newest whole snapshot that the log continues. One that came from another member and was not
   * installed lies above the log's end, or the log has other entries there.
   */
  static Optional<SnapshotRef> latest(DataDir dataDir, WalReplay log) {
    return new SnapshotDirectory(dataDir.snapshots())
        .latest(
            log.lastIndex(),
            snapshot -> log.continues(dataDir.wal(), snapshot.index(), snapshot.term()));
  }

  private static Path replaced(DataDir dataDir) {
    return dataDir.state().resolveSibling("state.replaced");
  }

  /**
   * A state directory that somebody emptied is made anew from the newest snapshot; the log brings
   * the rest.
   */
  static void ifEmpty(DataDir dataDir) {
    try {
      DurableFiles.deleteTree(replaced(dataDir));
      DurableFiles.createDirectory(dataDir.state());
    } catch (IOException e) {
      throw new StoreException("cannot make " + dataDir.state() + ": " + e, e);
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
    Optional<SnapshotRef> latest =
        log.segments().isEmpty() ? snapshots.latest(Long.MAX_VALUE) : latest(dataDir, log);
    long index = latest.map(SnapshotRef::index).orElse(0L);
    long floor = log.floor();
    if (index < floor) {
      throw new DataDirException(
          Reason.CORRUPT,
          dataDir.state()
              + " is empty, and the newest usable snapshot in "
              + dataDir.snapshots()
              + (index == 0 ? " is missing" : " ends at index " + index)
              + ", but the log begins behind index "
              + floor
              + ": restore the member from a backup");
    }
    if (latest.isPresent()) {
      LOG.warn("the state directory is empty, restoring the newest snapshot index={}", index);
      snapshots.restore(latest.get(), dataDir.state());
    }
  }

  /** RocksDB's library is unpacked there for loading; a sudden end can leave it behind. */
  private static boolean isNativeLibrary(Path file) {
    return String.valueOf(file.getFileName()).startsWith("librocksdbjni");
  }
}
