package io.troupe.persistence.snapshot;

import io.troupe.persistence.datadir.DurableFiles;
import io.troupe.persistence.snapshot.SnapshotException.Kind;
import io.troupe.persistence.snapshot.SnapshotManifest.FileSum;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The snapshots of one member on disk. A snapshot exists from the moment its manifest has its final
 * name until that name is removed; a content directory without a manifest is a leftover. So a crash
 * at any point leaves the old snapshots, or the old ones and the new one.
 *
 * <p>Not thread-safe: one caller at a time, which is the plugin's actor while the member runs.
 */
public final class SnapshotDirectory {
  /** Number of complete snapshots that are kept after a save. */
  public static final int KEPT = 2;

  private static final Logger LOG = LoggerFactory.getLogger(SnapshotDirectory.class);
  private static final String MAKING = "making";
  private static final String PINNED = "sending-";

  private final Path root;
  private final SnapshotManifests manifests;
  private final SnapshotWriter writer;

  /**
   * @param root the snapshots directory of the data directory; created when first needed
   */
  public SnapshotDirectory(Path root) {
    this(root, TableCheck.NONE);
  }

  /**
   * As above.
   *
   * @param newTables checks each table file that gets its first checksum in a save
   */
  public SnapshotDirectory(Path root, TableCheck newTables) {
    this.root = root.toAbsolutePath().normalize();
    this.manifests = new SnapshotManifests(this.root);
    this.writer = new SnapshotWriter(this.root, manifests, newTables);
  }

  /** The directory itself, absolute. */
  public Path root() {
    return root;
  }

  /**
   * Returns the directory in which the content of a new snapshot must be created. A leftover there
   * is removed first, so the directory does not exist when this returns.
   *
   * @throws SnapshotException IO; or DAMAGED if a snapshot with this index and term already exists
   */
  public Path prepare(long index, long term) {
    return DiskWork.attempt(
        "prepare snapshot " + index,
        () -> {
          DurableFiles.createDirectory(root);
          if (Files.exists(manifests.file(index, term))) {
            throw new SnapshotException(Kind.DAMAGED, "snapshot " + index + " already exists");
          }
          Path content = root.resolve(SnapshotManifests.baseName(index, term));
          DurableFiles.deleteTree(content);
          DurableFiles.forceDirectory(root);
          return content;
        });
  }

  /**
   * Returns a directory for content whose index is not known yet: {@link #nameMade} renames it. A
   * leftover there is removed first.
   *
   * @throws SnapshotException IO
   */
  public Path prepareUnnamed() {
    return emptyPlace(MAKING);
  }

  /**
   * Renames the directory of {@link #prepareUnnamed} to the name that {@link #save} expects.
   * Replaces a damaged snapshot of that name.
   *
   * @throws SnapshotException IO; or DAMAGED if a complete snapshot with this index and term exists
   */
  public Path nameMade(long index, long term) {
    if (Files.exists(manifests.file(index, term)) && !has(index, term)) {
      LOG.warn("replacing damaged snapshot manifest={}", manifests.file(index, term));
      writer.remove(manifests.file(index, term));
    }
    Path content = prepare(index, term);
    return DiskWork.attempt(
        "name snapshot " + index,
        () -> {
          DurableFiles.rename(root.resolve(MAKING), content);
          return content;
        });
  }

  /** Removes the directory of {@link #prepareUnnamed}. */
  public void discardMade() {
    emptyPlace(MAKING);
  }

  /**
   * Prepares the directory for the files of another member's snapshot until they are complete.
   * Keeps complete files that were received before and that this snapshot shares, also from an
   * earlier run of the member; all others are removed.
   *
   * @throws SnapshotException IO
   */
  public ReceivedFiles prepareReceived(SnapshotManifest manifest) {
    return DiskWork.attempt(
        "prepare receiving snapshot " + manifest.index(),
        () -> {
          DurableFiles.createDirectory(root);
          return ReceivedFiles.prepare(root, manifest);
        });
  }

  /**
   * Removes the received files of another member's snapshot if its index is at most {@code index}.
   *
   * @throws SnapshotException IO
   */
  public void discardReceived(long index) {
    DiskWork.attempt(
        "discard a received snapshot",
        () -> {
          ReceivedFiles.discard(root, index);
          return root;
        });
  }

  private Path emptyPlace(String name) {
    return DiskWork.attempt(
        "prepare " + name,
        () -> {
          DurableFiles.createDirectory(root);
          Path place = root.resolve(name);
          DurableFiles.deleteTree(place);
          DurableFiles.forceDirectory(root);
          return place;
        });
  }

  /**
   * Converts the received files to a snapshot of this member. Durable when this returns. Removes
   * nothing: the state still needs its own snapshots until this one is installed.
   *
   * @param manifest manifest of the sender; every file matches it and is forced
   * @throws SnapshotException DISK_FULL or IO; the snapshot does not exist then
   */
  public SnapshotRef adopt(SnapshotManifest manifest) {
    Path content = root.resolve(SnapshotManifests.baseName(manifest.index(), manifest.term()));
    if (!manifest.directory().equals(String.valueOf(content.getFileName()))) {
      throw new SnapshotException(
          Kind.DAMAGED,
          "snapshot " + manifest.index() + " names directory " + manifest.directory());
    }
    return DiskWork.attempt(
        "adopt snapshot " + manifest.index(),
        () -> {
          Path received = ReceivedFiles.content(root);
          DurableFiles.forceTree(received);
          DurableFiles.deleteTree(content);
          DurableFiles.rename(received, content);
          DurableFiles.replace(
              manifests.file(manifest.index(), manifest.term()), manifest.encode());
          ReceivedFiles.discard(root, Long.MAX_VALUE);
          return manifests.ref(manifest);
        });
  }

  /** True if this member has a snapshot of that index and term, complete as far as sizes show. */
  public boolean has(long index, long term) {
    return latest(index)
        .filter(found -> found.index() == index && found.term() == term)
        .isPresent();
  }

  /**
   * Keeps the content of a snapshot, table files by hard links, even if the snapshot is removed.
   *
   * @param name plain name of a directory that is created for it; a leftover there is removed
   * @throws SnapshotException DAMAGED or IO
   */
  public Path pin(SnapshotRef ref, String name) {
    SnapshotManifest manifest = manifest(ref);
    Path place = emptyPlace(PINNED + name);
    return DiskWork.attempt(
        "pin snapshot " + ref.index(),
        () -> {
          Files.createDirectory(place);
          ContentCopy.copy(manifest, root.resolve(manifest.directory()), place);
          return place;
        });
  }

  /** Releases the content kept by {@link #pin}. */
  public void unpin(String name) {
    emptyPlace(PINNED + name);
  }

  /**
   * Converts the prepared content to a snapshot, then removes the snapshots older than the newest
   * {@value #KEPT} complete ones. Durable when this returns. A failure leaves nothing of the
   * snapshot on the disk.
   *
   * @param ref its directory is the one that {@link #prepare} returned, with content
   * @throws SnapshotException DISK_FULL, IO, or DAMAGED if a table file is damaged; the snapshot
   *     does not exist then
   */
  public void save(SnapshotRef ref) {
    save(ref, SaveTimes.NONE);
  }

  /** {@link #save(SnapshotRef)}, reporting its durations. */
  void save(SnapshotRef ref, SaveTimes times) {
    writer.save(ref, times);
    int whole = 0;
    for (Path file : manifests.files()) {
      if (whole >= KEPT) {
        writer.remove(file);
      } else if (manifests.isWhole(file)) {
        whole++;
      }
    }
  }

  /**
   * Indexes of the snapshots that have a manifest, complete or not, ascending.
   *
   * @throws SnapshotException IO
   */
  public List<Long> indexes() {
    return manifests.files().stream().map(SnapshotManifests::indexOf).sorted().distinct().toList();
  }

  /**
   * Returns the newest snapshot whose manifest is valid and whose files have the right sizes. A
   * damaged one is skipped with an error in the log, and kept for inspection.
   *
   * @param maxIndex snapshots above it are ignored; {@link Long#MAX_VALUE} for all
   * @throws SnapshotException IO if the disk fails
   */
  public Optional<SnapshotRef> latest(long maxIndex) {
    return latest(maxIndex, snapshot -> true);
  }

  /**
   * As {@link #latest(long)}, restricted to matching snapshots.
   *
   * @param fits tested with complete snapshots, the newest first
   */
  public Optional<SnapshotRef> latest(long maxIndex, Predicate<SnapshotRef> fits) {
    for (Path file : manifests.files()) {
      if (SnapshotManifests.indexOf(file) > maxIndex) {
        continue;
      }
      try {
        SnapshotManifest manifest = manifests.read(file);
        manifests.checkSizes(manifest);
        SnapshotRef found = manifests.ref(manifest);
        if (fits.test(found)) {
          return Optional.of(found);
        }
      } catch (SnapshotException e) {
        if (e.kind() == Kind.IO) {
          throw e;
        }
        LOG.error("snapshot skipped manifest={} reason={}", file, e.getMessage());
      }
    }
    return Optional.empty();
  }

  /**
   * As {@link #latest(long, Predicate)}, restricted to snapshots that match their checksums
   * completely. Reads all of the newest one, and older ones only if it is damaged.
   */
  public Optional<SnapshotRef> latestVerified(long maxIndex, Predicate<SnapshotRef> fits) {
    long max = maxIndex;
    while (true) {
      Optional<SnapshotRef> found = latest(max, fits);
      if (found.isEmpty()) {
        return found;
      }
      try {
        verify(found.get());
        return found;
      } catch (SnapshotException e) {
        if (e.kind() == Kind.IO) {
          throw e;
        }
        LOG.error(
            "snapshot is damaged, trying an older one snapshot-index={} reason={}",
            found.get().index(),
            e.getMessage());
        max = found.get().index() - 1;
      }
    }
  }

  /**
   * Compares every byte of the content with the manifest's checksums.
   *
   * @throws SnapshotException DAMAGED naming the file, or IO
   */
  public void verify(SnapshotRef ref) {
    SnapshotManifest manifest = manifest(ref);
    manifests.checkSizes(manifest);
    for (FileSum file : manifest.files()) {
      Path path = root.resolve(manifest.directory()).resolve(file.name());
      int crc = DiskWork.attempt("read " + path, () -> ContentSums.crc32c(path));
      if (crc != file.crc32c()) {
        throw new SnapshotException(Kind.DAMAGED, path + " does not match its checksum");
      }
    }
  }

  /**
   * Returns the manifest of a snapshot, to send it to a peer.
   *
   * @throws SnapshotException DAMAGED or IO
   */
  public SnapshotManifest manifest(SnapshotRef ref) {
    return manifests.read(manifests.file(ref.index(), ref.term()));
  }

  /**
   * Disk space that only a snapshot uses: size of its table files that the state has rewritten or
   * removed since, as the state does at any time.
   *
   * @param state the state's directory; a table file has the same name in both
   * @throws SnapshotException DAMAGED or IO
   */
  public long bytesNotIn(SnapshotRef ref, Path state) {
    long bytes = 0;
    for (FileSum file : manifest(ref).files()) {
      if (isTable(file.name()) && !Files.exists(state.resolve(file.name()))) {
        bytes += file.size();
      }
    }
    return bytes;
  }

  /**
   * Removes the snapshots with an index in that range, manifest first.
   *
   * @param from inclusive
   * @param to inclusive
   */
  public void delete(long from, long to) {
    for (Path file : manifests.files()) {
      if (SnapshotManifests.indexOf(file) >= from && SnapshotManifests.indexOf(file) <= to) {
        writer.remove(file);
      }
    }
  }

  /**
   * Removes files that belong to no manifest: leftovers of a crash while a snapshot was created or
   * removed. Received files of another member's snapshot stay. Must be called only at start, before
   * anything is prepared.
   */
  public void removeStrays() {
    DiskWork.attempt(
        "clean up " + root,
        () -> {
          DurableFiles.createDirectory(root);
          Set<String> known = new HashSet<>();
          for (Path file : manifests.files()) {
            known.add(String.valueOf(file.getFileName()));
            known.add(String.valueOf(SnapshotManifests.contentOf(file).getFileName()));
          }
          known.add("lost+found");
          known.addAll(ReceivedFiles.names(root));
          try (Stream<Path> paths = Files.list(root)) {
            for (Path path : (Iterable<Path>) paths::iterator) {
              if (!known.contains(String.valueOf(path.getFileName()))) {
                LOG.info("removed leftover of an unfinished snapshot path={}", path);
                DurableFiles.deleteTree(path);
              }
            }
          }
          DurableFiles.forceDirectory(root);
          return root;
        });
  }

  /**
   * Creates a state directory from a snapshot: table files are shared by hard links if the file
   * system allows it, all others are copied, and all are forced. The snapshot stays complete
   * whatever happens to the state.
   *
   * @param target does not exist or is empty; a crash leaves it so, and perhaps a directory {@code
   *     target + ".restoring"}
   * @throws SnapshotException DAMAGED if the content does not match its checksums, DISK_FULL or IO
   */
  public void restore(SnapshotRef ref, Path target) {
    verify(ref);
    restoreVerified(ref, target);
  }

  /** As {@link #restore}, for a snapshot that was just verified: its files are not read again. */
  public void restoreVerified(SnapshotRef ref, Path target) {
    SnapshotManifest manifest = manifest(ref);
    DiskWork.attempt(
        "restore snapshot " + ref.index() + " to " + target,
        () -> {
          Path fresh = target.resolveSibling(target.getFileName() + ".restoring");
          DurableFiles.deleteTree(fresh);
          DurableFiles.createDirectory(fresh);
          ContentCopy.copy(manifest, root.resolve(manifest.directory()), fresh);
          DurableFiles.forceTree(fresh);
          Files.deleteIfExists(target);
          DurableFiles.rename(fresh, target);
          return target;
        });
  }

  /**
   * True for table files: they never change, and have the same name in the state and in all
   * snapshots.
   */
  public static boolean isTable(String fileName) {
    return fileName.endsWith(".sst");
  }

  /**
   * Returns the snapshots that contain a damaged file of another snapshot: table files are shared
   * by hard links.
   *
   * @param file of a manifest of this directory
   * @return indexes, ascending; immutable
   * @throws SnapshotException IO
   */
  public List<Long> damagedBy(FileSum file) {
    List<Long> damaged = new ArrayList<>();
    for (Path manifestFile : manifests.files()) {
      try {
        SnapshotManifest manifest = manifests.read(manifestFile);
        Path path = root.resolve(manifest.directory()).resolve(file.name());
        if (manifest.files().contains(file)
            && !DiskWork.attempt("read " + path, () -> file.fits(path))) {
          damaged.add(0, manifest.index());
        }
      } catch (SnapshotException e) {
        if (e.kind() == Kind.IO) {
          throw e;
        }
        LOG.debug("unreadable manifest path={} reason={}", manifestFile, e.getMessage());
      }
    }
    return List.copyOf(damaged);
  }
}
