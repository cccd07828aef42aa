package io.troupe.actors.snapshot;

import io.troupe.persistence.snapshot.SnapshotDirectory;
import io.troupe.persistence.snapshot.SnapshotException;
import io.troupe.persistence.snapshot.SnapshotManifest.FileSum;
import io.troupe.persistence.snapshot.SnapshotRef;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The snapshots of this member on the disk, as last read by the snapshot actor. The persistence
 * plugin changes them in its own thread, so a read may find a snapshot that is being removed, and a
 * disk may fail. A read that fails leaves the last known values, and the next check repeats it. Not
 * thread-safe.
 */
final class KnownSnapshots {
  private static final Logger LOG = LoggerFactory.getLogger(KnownSnapshots.class);

  private final SnapshotDirectory directory;
  private final Path state;
  private long newest;
  private boolean newestIsOwn;
  private List<Long> indexes = List.of();

  /**
   * Starts without snapshots.
   *
   * @param state directory of the state; a table file has the same name in both
   */
  KnownSnapshots(SnapshotDirectory directory, Path state) {
    this.directory = directory;
    this.state = state;
  }

  /**
   * Index of the newest snapshot of this member's state, also of an earlier run; 0 if there is
   * none.
   */
  long newest() {
    return newest;
  }

  /** True if this process saved the newest snapshot. */
  boolean newestIsOwn() {
    return newestIsOwn;
  }

  /** Indexes of the snapshots on the disk as of the last read, ascending; immutable. */
  List<Long> indexes() {
    return indexes;
  }

  /**
   * Reads the newest index and all indexes.
   *
   * @param applied applied index; a snapshot after it was received and is not installed
   */
  void read(long applied) {
    newest =
        attempt(() -> directory.latest(applied).map(SnapshotRef::index).orElse(0L)).orElse(newest);
    readIndexes();
  }

  /**
   * Reads the indexes. Called repeatedly, because the plugin removes the oldest snapshot some time
   * after it saved another.
   */
  void readIndexes() {
    indexes = attempt(directory::indexes).orElse(indexes);
  }

  /** This process saved a snapshot. */
  void saved(long index) {
    newest = index;
    newestIsOwn = true;
    readIndexes();
  }

  /** The newest complete snapshot, if it can be read. */
  Optional<SnapshotRef> latest() {
    return attempt(() -> directory.latest(Long.MAX_VALUE)).flatMap(found -> found);
  }

  /**
   * True if the newest snapshot holds files that the state has rewritten or removed. The state does
   * so at any time. If the disk is full and no client can write, nothing else would ever replace
   * the snapshot.
   */
  boolean newestHoldsRewritten() {
    return newestIsOwn
        && attempt(
                () ->
                    directory
                        .latest(newest)
                        .map(ref -> directory.bytesNotIn(ref, state) > 0)
                        .orElse(false))
            .orElse(false);
  }

  /** Indexes of the snapshots in which the file is damaged, as far as they can be read. */
  List<Long> damagedBy(FileSum file) {
    return attempt(() -> directory.damagedBy(file)).orElse(List.of());
  }

  private static <T> Optional<T> attempt(Supplier<T> read) {
    try {
      return Optional.of(read.get());
    } catch (SnapshotException e) {
      // A newer snapshot may have replaced it just now. A disk that keeps failing also fails the
      // next save, which logs an error.
      LOG.debug("snapshots cannot be read: {}", e.getMessage());
      return Optional.empty();
    }
  }
}
