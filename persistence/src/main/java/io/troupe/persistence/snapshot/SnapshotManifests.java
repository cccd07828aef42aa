package io.troupe.persistence.snapshot;

import io.troupe.persistence.snapshot.SnapshotException.Kind;
import io.troupe.persistence.snapshot.SnapshotManifest.FileSum;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The manifest files of a snapshot directory: their names, listing and reading. A manifest and its
 * content directory have the same name except for the suffix.
 */
final class SnapshotManifests {
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotManifests.class);
  private static final String SUFFIX = ".manifest";
  private static final Pattern NAME = Pattern.compile("([0-9a-f]{16})-[0-9a-f]{16}\\.manifest");

  private final Path root;

  /**
   * Does not read yet.
   *
   * @param root absolute
   */
  SnapshotManifests(Path root) {
    this.root = root;
  }

  /** Manifests by name, greatest index first. */
  List<Path> files() {
    return DiskWork.attempt(
        "list " + root,
        () -> {
          List<Path> found = new ArrayList<>();
          if (Files.isDirectory(root)) {
            try (Stream<Path> paths = Files.list(root)) {
              paths
                  .filter(p -> NAME.matcher(String.valueOf(p.getFileName())).matches())
                  .sorted(Comparator.reverseOrder())
                  .forEach(found::add);
            }
          }
          return found;
        });
  }

  /**
   * Reads a manifest and checks that it matches its name.
   *
   * @throws SnapshotException DAMAGED or IO
   */
  SnapshotManifest read(Path file) {
    SnapshotManifest manifest =
        SnapshotManifest.decode(DiskWork.attempt("read " + file, () -> Files.readAllBytes(file)));
    if (!file.equals(file(manifest.index(), manifest.term()))
        || !manifest.directory().equals(baseName(manifest.index(), manifest.term()))) {
      throw new SnapshotException(Kind.DAMAGED, file + " names " + manifest.directory());
    }
    return manifest;
  }

  /** The newest readable manifest, even if files of it are damaged; null if there is none. */
  @Nullable SnapshotManifest newest() {
    for (Path file : files()) {
      try {
        return read(file);
      } catch (SnapshotException e) {
        LOG.error("cannot read snapshot manifest path={} reason={}", file, e.getMessage());
      }
    }
    return null;
  }

  /** True if the manifest can be read and its files have the right sizes. */
  boolean isWhole(Path file) {
    try {
      checkSizes(read(file));
      return true;
    } catch (SnapshotException e) {
      LOG.debug("snapshot is incomplete manifest={} reason={}", file, e.getMessage());
      return false;
    }
  }

  /**
   * Compares the sizes of all files with the manifest.
   *
   * @throws SnapshotException DAMAGED naming the file, or IO
   */
  void checkSizes(SnapshotManifest manifest) {
    for (FileSum file : manifest.files()) {
      Path path = root.resolve(manifest.directory()).resolve(file.name());
      if (!Files.isRegularFile(path)) {
        throw new SnapshotException(Kind.DAMAGED, path + " is missing");
      }
      long size = DiskWork.attempt("read " + path, () -> Files.size(path));
      if (size != file.size()) {
        throw new SnapshotException(
            Kind.DAMAGED, path + " has " + size + " bytes instead of " + file.size());
      }
    }
  }

  SnapshotRef ref(SnapshotManifest manifest) {
    return new SnapshotRef(
        manifest.index(),
        manifest.term(),
        manifest.membership(),
        root.resolve(manifest.directory()));
  }

  /** Path of the manifest of that snapshot, if it exists. */
  Path file(long index, long term) {
    return root.resolve(baseName(index, term) + SUFFIX);
  }

  /** Content directory of the snapshot with that manifest. */
  static Path contentOf(Path file) {
    String name = String.valueOf(file.getFileName());
    return file.resolveSibling(name.substring(0, name.length() - SUFFIX.length()));
  }

  static String baseName(long index, long term) {
    return String.format("%016x-%016x", index, term);
  }

  static long indexOf(Path file) {
    Matcher matcher = NAME.matcher(String.valueOf(file.getFileName()));
    if (!matcher.matches()) {
      throw new IllegalArgumentException(file + " is not a manifest");
    }
    return Long.parseUnsignedLong(matcher.group(1), 16);
  }
}
