package io.troupe.persistence.snapshot;

import io.troupe.persistence.datadir.DurableFiles;
import io.troupe.persistence.snapshot.SnapshotManifest.FileSum;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files received so far of another member's snapshot. A file gets its name in the content
 * directory only when it is complete, matches its checksum and is forced; until then it is the part
 * file. The record names the manifest to which the names belong. So a receiver continues after a
 * restart, and with the next snapshot, which shares most of its table files with this one. See
 * docs/formats/snapshot-manifest.md.
 */
public final class ReceivedFiles {
  private static final Logger LOG = LoggerFactory.getLogger(ReceivedFiles.class);
  private static final String CONTENT = "receiving";
  private static final String RECORD = "receiving.manifest";
  private static final String PART = "receiving.part";

  private final Path root;
  private final Set<String> present;

  private ReceivedFiles(Path root, Set<String> present) {
    this.root = root;
    this.present = present;
  }

  /**
   * Keeps the files that are in both manifests, removes the others, then records the new manifest.
   */
  static ReceivedFiles prepare(Path root, SnapshotManifest manifest) throws IOException {
    Path content = content(root);
    Files.deleteIfExists(root.resolve(PART));
    SnapshotManifest former = recorded(root);
    Set<FileSum> known = former == null ? Set.of() : new HashSet<>(former.files());
    DurableFiles.createDirectory(content);
    Set<String> wanted = new HashSet<>();
    for (FileSum file : manifest.files()) {
      if (known.contains(file) && hasSize(content.resolve(file.name()), file.size())) {
        wanted.add(file.name());
      }
    }
    try (Stream<Path> paths = Files.list(content)) {
      for (Path path : (Iterable<Path>) paths::iterator) {
        if (!wanted.contains(String.valueOf(path.getFileName()))) {
          DurableFiles.deleteTree(path);
        }
      }
    }
    // An outdated file must be removed before a record gives its name another meaning.
    DurableFiles.forceDirectory(content);
    DurableFiles.replace(root.resolve(RECORD), manifest.encode());
    return new ReceivedFiles(root, wanted);
  }

  private static boolean hasSize(Path file, long size) throws IOException {
    return Files.isRegularFile(file) && Files.size(file) == size;
  }

  private static @Nullable SnapshotManifest recorded(Path root) throws IOException {
    Path record = root.resolve(RECORD);
    if (!Files.exists(record)) {
      return null;
    }
    try {
      return SnapshotManifest.decode(Files.readAllBytes(record));
    } catch (SnapshotException e) {
      LOG.warn(
          "ignoring record of a received snapshot, transfer starts again path={} reason={}",
          record,
          e.getMessage());
      return null;
    }
  }

  /** Names that a start must not remove as leftovers. */
  static Set<String> names(Path root) throws IOException {
    return recorded(root) == null ? Set.of() : Set.of(CONTENT, RECORD);
  }

  /**
   * Removes the received files if the index of their snapshot is at most {@code index}, or unknown.
   */
  static void discard(Path root, long index) throws IOException {
    SnapshotManifest former = recorded(root);
    if (former != null && former.index() > index) {
      return;
    }
    boolean removed = false;
    for (Path path : List.of(content(root), root.resolve(PART), root.resolve(RECORD))) {
      removed |= Files.exists(path);
      DurableFiles.deleteTree(path);
    }
    if (removed) {
      DurableFiles.forceDirectory(root);
    }
  }

  static Path content(Path root) {
    return root.resolve(CONTENT);
  }

  /** True if the complete file is here. */
  public boolean has(String name) {
    return present.contains(name);
  }

  /** Number of complete files. */
  public int count() {
    return present.size();
  }

  /** Path for the bytes of the next file; no file exists there. */
  public Path part() {
    return root.resolve(PART);
  }

  /**
   * Renames the part file to its final name; durable when this returns.
   *
   * @param name name of the file; the part must match its checksum and be forced
   */
  public void keep(String name) throws IOException {
    DurableFiles.rename(part(), content(root).resolve(name));
    present.add(name);
  }
}
