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
 * Reads the snapshots of this member on the disk. The persistence plugin changes them in its own
 * thread, so a read may find a snapshot that is being removed, and a disk may fail. A read that
 * fails returns empty.
 */
final class KnownSnapshots {
  private static final Logger LOG = LoggerFactory.getLogger(KnownSnapshots.class);

  private final SnapshotDirectory directory;
  private final Path state;

  /**
   * Creates a reader.
   *
   * @param state directory of the state; a table file has the same name in both
   */
  KnownSnapshots(SnapshotDirectory directory, Path state) {
    this.directory = directory;
    this.state = state;
  }

  /** Index of the newest complete snapshot up to {@code index}, 0 if there is none. */
  Optional<Long> newestIndex(long index) {
    return attempt(() -> directory.latest(index).map(SnapshotRef::index).orElse(0L));
  }

  /**
   * Indexes of the snapshots, ascending. Read repeatedly, because the plugin removes the oldest
   * snapshot some time after it saved another.
   */
  Optional<List<Long>> indexes() {
    return attempt(directory::indexes);
  }

  /** The newest complete snapshot, if it can be read. */
  Optional<SnapshotRef> latest() {
    return attempt(() -> directory.latest(Long.MAX_VALUE)).flatMap(found -> found);
  }

  /**
   * True if the snapshot holds files that the state has rewritten or removed. The state does so at
   * any time. If the disk is full and no client can write, nothing else would ever replace the
   * snapshot.
   */
  boolean holdsRewrittenFiles(long index) {
    return attempt(
            () ->
                directory
                    .latest(index)
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
