package io.troupe.persistence.snapshot;

import io.troupe.persistence.snapshot.SnapshotManifest.FileSum;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies the content of a snapshot to another directory. Table files never change, so hard links
 * replace copies if the file system supports them; RocksDB rewrites the other files in place.
 */
final class ContentCopy {
  private static final Logger LOG = LoggerFactory.getLogger(ContentCopy.class);

  private ContentCopy() {}

  /**
   * Copies all files of the manifest; forces nothing.
   *
   * @param from content directory
   * @param to an empty directory
   */
  static void copy(SnapshotManifest manifest, Path from, Path to) throws IOException {
    for (FileSum file : manifest.files()) {
      linkOrCopy(from.resolve(file.name()), to.resolve(file.name()));
    }
  }

  private static void linkOrCopy(Path from, Path to) throws IOException {
    if (SnapshotDirectory.isTable(String.valueOf(from.getFileName()))) {
      try {
        Files.createLink(to, from);
        return;
      } catch (UnsupportedOperationException | IOException e) {
        LOG.debug("copying file, hard link failed path={} reason={}", from, e.toString());
      }
    }
    Files.copy(from, to);
  }
}
