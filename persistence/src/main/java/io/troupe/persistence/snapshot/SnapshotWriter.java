package io.troupe.persistence.snapshot;

import io.troupe.persistence.datadir.DurableFiles;
import io.troupe.persistence.snapshot.SnapshotManifest.FileSum;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the manifest of prepared content, and removes snapshots. The manifest is created last and
 * removed first, so a crash at any point leaves a complete snapshot or a leftover directory.
 */
final class SnapshotWriter {
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotWriter.class);

  private final Path root;
  private final SnapshotManifests manifests;
  private final TableCheck newTables;

  SnapshotWriter(Path root, SnapshotManifests manifests, TableCheck newTables) {
    this.root = root;
    this.manifests = manifests;
    this.newTables = newTables;
  }

  /**
   * Converts the prepared content to a snapshot. Durable when this returns; a failure leaves
   * nothing of the snapshot on the disk.
   *
   * @throws SnapshotException DISK_FULL, IO, or DAMAGED if a table file is damaged; the snapshot
   *     does not exist then
   */
  void save(SnapshotRef ref, SaveTimes times) {
    Path content = root.resolve(SnapshotManifests.baseName(ref.index(), ref.term()));
    if (!ref.directory().toAbsolutePath().normalize().equals(content)) {
      throw new IllegalArgumentException(ref.directory() + " was not prepared for " + ref.index());
    }
    boolean saved = false;
    try {
      saveContent(ref, content, times);
      saved = true;
    } finally {
      if (!saved) {
        removeUnsaved(ref, content);
      }
    }
  }

  private void saveContent(SnapshotRef ref, Path content, SaveTimes times) {
    DiskWork.attempt(
        "save snapshot " + ref.index(),
        () -> {
          long started = System.nanoTime();
          DurableFiles.forceTree(content);
          DurableFiles.forceDirectory(root);
          long contentForced = System.nanoTime();
          @Nullable SnapshotManifest earlier = manifests.newest();
          List<FileSum> files =
              ContentSums.of(
                  content,
                  earlier,
                  earlier == null ? null : root.resolve(earlier.directory()),
                  newTables);
          byte[] manifest =
              new SnapshotManifest(
                      ref.index(),
                      ref.term(),
                      ref.membership(),
                      SnapshotManifests.baseName(ref.index(), ref.term()),
                      files)
                  .encode();
          long summed = System.nanoTime();
          DurableFiles.replace(manifests.file(ref.index(), ref.term()), manifest);
          long done = System.nanoTime();
          times.saved(
              summed - contentForced, contentForced - started + done - summed, done - started);
          return ref;
        });
  }

  /**
   * Leftovers of a failed save occupy disk space, because they keep table files that the state has
   * deleted since. The caller throws the original failure; if this removal fails too, the next
   * start removes the leftovers.
   */
  private void removeUnsaved(SnapshotRef ref, Path content) {
    Path manifest = manifests.file(ref.index(), ref.term());
    try {
      Files.deleteIfExists(manifest.resolveSibling(manifest.getFileName() + ".new"));
      remove(manifest);
    } catch (IOException | SnapshotException e) {
      LOG.warn(
          "unsaved snapshot stays until the next start path={} reason={}", content, e.toString());
    }
  }

  /** Removes a snapshot, its manifest first. */
  void remove(Path manifestFile) {
    Path content = SnapshotManifests.contentOf(manifestFile);
    DiskWork.attempt(
        "remove " + manifestFile,
        () -> {
          Files.deleteIfExists(manifestFile);
          DurableFiles.forceDirectory(root);
          DurableFiles.deleteTree(content);
          DurableFiles.forceDirectory(root);
          return content;
        });
  }
}
