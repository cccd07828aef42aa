package io.troupe.persistence.snapshot;

import io.troupe.persistence.datadir.DurableFiles;
import io.troupe.persistence.snapshot.SnapshotException.Kind;
import io.troupe.persistence.snapshot.SnapshotManifest.FileSum;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The snapshots of one member on disk. A snapshot exists from the moment its manifest has its final
 * name until that name is removed; a content directory without one is a stray. So a crash at any
 * point leaves the old snapshots, or the old ones and the new.
 *
 * <p>Not thread-safe: one caller at a time, which is the plugin's actor once the member runs.
 */
public final class SnapshotDirectory {
  /** How many whole snapshots stay after a save. */
  public static final int KEPT = 2;

  private static final Logger LOG = LoggerFactory.getLogger(SnapshotDirectory.class);
  private static final String MANIFEST_SUFFIX = ".manifest";
  private static final String MAKING = "making";
  private static final String PINNED = "sending-";
  private static final Pattern MANIFEST = Pattern.compile("([0-9a-f]{16})-[0-9a-f]{16}\\.manifest");

  private final Path root;

  /**
   * @param root the data directory's snapshots room; created when first needed
   */
  public SnapshotDirectory(Path root) {
    this.root = root.toAbsolutePath().normalize();
  }

  /** The directory itself, absolute. */
  public Path root() {
    return root;
  }

  /**
   * Where the content of a coming snapshot has to be made. A stray there is removed first, so the
   * directory does not exist when this returns.
   *
   * @throws SnapshotException IO; or DAMAGED if a snapshot with this index and term exists already
   */
  public Path prepare(long index, long term) {
    return io(
        "prepare snapshot " + index,
        () -> {
          DurableFiles.createDirectory(root);
          if (Files.exists(manifestFile(index, term))) {
            throw new SnapshotException(Kind.DAMAGED, "snapshot " + index + " exists already");
          }
          Path content = root.resolve(baseName(index, term));
          DurableFiles.deleteTree(content);
          DurableFiles.forceDirectory(root);
          return content;
        });
  }

  /**
   * Where content can be made whose index is not known yet: {@link #nameMade} gives it its name. A
   * stray there is removed first.
   *
   * @throws SnapshotException IO
   */
  public Path prepareUnnamed() {
    return emptyPlace(MAKING);
  }

  /**
   * Gives what was made in the place of {@link #prepareUnnamed} the name that {@link #save} wants.
   * A damaged snapshot of that name gives way.
   *
   * @throws SnapshotException IO; or DAMAGED if a whole snapshot with this index and term exists
   */
  public Path nameMade(long index, long term) {
    if (Files.exists(manifestFile(index, term)) && !has(index, term)) {
      LOG.warn("replacing a damaged snapshot manifest={}", manifestFile(index, term));
      remove(manifestFile(index, term));
    }
    Path content = prepare(index, term);
    return io(
        "name snapshot " + index,
        () -> {
          DurableFiles.rename(root.resolve(MAKING), content);
          return content;
        });
  }

  /** Removes what was made in the place of {@link #prepareUnnamed}. */
  public void discardMade() {
    emptyPlace(MAKING);
  }

  /**
   * Where the files of another member's snapshot are put until they are complete. Whole files that
   * came before, of this snapshot or of another one that has the same file, also in an earlier run
   * of the member, are there already; all others are removed.
   *
   * @throws SnapshotException IO
   */
  public ReceivedFiles prepareReceived(SnapshotManifest manifest) {
    return io(
        "prepare receiving snapshot " + manifest.index(),
        () -> {
          DurableFiles.createDirectory(root);
          return ReceivedFiles.prepare(root, manifest);
        });
  }

  /**
   * Removes what came of another member's snapshot, if its index is at most {@code index}.
   *
   * @throws SnapshotException IO
   */
  public void discardReceived(long index) {
    io(
        "discard a received snapshot",
        () -> {
          ReceivedFiles.discard(root, index);
          return root;
        });
  }

  private Path emptyPlace(String name) {
    return io(
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
   * Makes the received files a snapshot of this member. Durable when this returns. Nothing is
   * removed: the state still needs its own snapshots until this one is installed.
   *
   * @param manifest of the sender; every file was compared with it and forced
   * @throws SnapshotException DISK_FULL or IO; the snapshot does not exist then
   */
  public SnapshotRef adopt(SnapshotManifest manifest) {
    Path content = root.resolve(baseName(manifest.index(), manifest.term()));
    if (!manifest.directory().equals(String.valueOf(content.getFileName()))) {
      throw new SnapshotException(
          Kind.DAMAGED, "snapshot " + manifest.index() + " speaks of " + manifest.directory());
    }
    return io(
        "adopt snapshot " + manifest.index(),
        () -> {
          Path received = ReceivedFiles.content(root);
          DurableFiles.forceTree(received);
          DurableFiles.deleteTree(content);
          DurableFiles.rename(received, content);
          DurableFiles.replace(manifestFile(manifest.index(), manifest.term()), manifest.encode());
          ReceivedFiles.discard(root, Long.MAX_VALUE);
          return ref(manifest);
        });
  }

  /** True if this member has a snapshot of that index and term, whole as far as sizes tell. */
  public boolean has(long index, long term) {
    return latest(index)
        .filter(found -> found.index() == index && found.term() == term)
        .isPresent();
  }

  /**
   * Holds on to the content of a snapshot, table files by hard links, whatever becomes of the
   * snapshot.
   *
   * @param name plain name of a directory that is made for it; a stray there is removed
   * @throws SnapshotException DAMAGED or IO
   */
  public Path pin(SnapshotRef ref, String name) {
    SnapshotManifest manifest = manifest(ref);
    Path place = emptyPlace(PINNED + name);
    return io(
        "pin snapshot " + ref.index(),
        () -> {
          Files.createDirectory(place);
          for (FileSum file : manifest.files()) {
            linkOrCopy(
                root.resolve(manifest.directory()).resolve(file.name()),
                place.resolve(file.name()));
          }
          return place;
        });
  }

  /** Lets go of what {@link #pin} holds. */
  public void unpin(String name) {
    emptyPlace(PINNED + name);
  }

  /**
   * Makes the prepared content a snapshot, then removes those older than the newest {@value #KEPT}
   * whole ones. Durable when this returns. A failure leaves nothing of the snapshot on the disk.
   *
   * @param ref its directory is the one that {@link #prepare} named, filled
   * @throws SnapshotException DISK_FULL or IO; the snapshot does not exist then
   */
  public void save(SnapshotRef ref) {
    save(ref, SaveTimes.NOBODY);
  }

  /** {@link #save(SnapshotRef)}, telling how long it took. */
  void save(SnapshotRef ref, SaveTimes times) {
    Path content = root.resolve(baseName(ref.index(), ref.term()));
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
    int whole = 0;
    for (Path file : manifests()) {
      if (whole >= KEPT) {
        remove(file);
      } else if (isWhole(file)) {
        whole++;
      }
    }
  }

  private boolean isWhole(Path manifestFile) {
    try {
      checkSizes(read(manifestFile));
      return true;
    } catch (SnapshotException e) {
      return false;
    }
  }

  private void saveContent(SnapshotRef ref, Path content, SaveTimes times) {
    io(
        "save snapshot " + ref.index(),
        () -> {
          long started = System.nanoTime();
          DurableFiles.forceTree(content);
          DurableFiles.forceDirectory(root);
          long contentForced = System.nanoTime();
          @Nullable SnapshotManifest earlier = newestManifest();
          List<FileSum> files =
              ContentSums.of(
                  content, earlier, earlier == null ? null : root.resolve(earlier.directory()));
          byte[] manifest =
              new SnapshotManifest(
                      ref.index(),
                      ref.term(),
                      ref.membership(),
                      baseName(ref.index(), ref.term()),
                      files)
                  .encode();
          long summed = System.nanoTime();
          DurableFiles.replace(manifestFile(ref.index(), ref.term()), manifest);
          long done = System.nanoTime();
          times.saved(
              summed - contentForced, contentForced - started + done - summed, done - started);
          return ref;
        });
  }

  /**
   * What a failed save leaves holds disk space, by table files that the state has deleted since.
   * The failure itself is thrown by the caller; a second one leaves strays for the next start.
   */
  private void removeUnsaved(SnapshotRef ref, Path content) {
    Path manifest = manifestFile(ref.index(), ref.term());
    try {
      Files.deleteIfExists(manifest.resolveSibling(manifest.getFileName() + ".new"));
      remove(manifest);
    } catch (IOException | SnapshotException e) {
      LOG.warn(
          "unsaved snapshot stays until the next start path={} reason={}", content, e.toString());
    }
  }

  /**
   * Indexes of the snapshots that have a manifest, whole or not, ascending.
   *
   * @throws SnapshotException IO
   */
  public List<Long> indexes() {
    return manifests().stream().map(SnapshotDirectory::indexOf).sorted().distinct().toList();
  }

  /**
   * The newest snapshot whose manifest is whole and whose files have the right sizes. A damaged one
   * is skipped with an error in the log, and kept for whoever wants to look at it.
   *
   * @param maxIndex snapshots above it do not count; {@link Long#MAX_VALUE} for all
   * @throws SnapshotException IO if the disk does not answer
   */
  public Optional<SnapshotRef> latest(long maxIndex) {
    return latest(maxIndex, snapshot -> true);
  }

  /**
   * As {@link #latest(long)}, of those that fit.
   *
   * @param fits asked about whole snapshots, the newest first
   */
  public Optional<SnapshotRef> latest(long maxIndex, Predicate<SnapshotRef> fits) {
    for (Path file : manifests()) {
      if (indexOf(file) > maxIndex) {
        continue;
      }
      try {
        SnapshotManifest manifest = read(file);
        checkSizes(manifest);
        SnapshotRef found = ref(manifest);
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
   * As {@link #latest(long, Predicate)}, of those whose every byte fits the checksums. Reads the
   * newest one whole, and older ones only if it is damaged.
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
    checkSizes(manifest);
    for (FileSum file : manifest.files()) {
      Path path = root.resolve(manifest.directory()).resolve(file.name());
      int crc = io("read " + path, () -> ContentSums.crc32c(path));
      if (crc != file.crc32c()) {
        throw new SnapshotException(Kind.DAMAGED, path + " does not fit its checksum");
      }
    }
  }

  /**
   * The manifest of a snapshot, for sending it to a peer.
   *
   * @throws SnapshotException DAMAGED or IO
   */
  public SnapshotManifest manifest(SnapshotRef ref) {
    return read(manifestFile(ref.index(), ref.term()));
  }

  /**
   * How much disk space a snapshot alone holds: bytes of its table files that the state has
   * rewritten or removed since, as it does by itself at any time.
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
    for (Path file : manifests()) {
      if (indexOf(file) >= from && indexOf(file) <= to) {
        remove(file);
      }
    }
  }

  /**
   * Removes what no manifest speaks for: leftovers of a crash while a snapshot was made or removed.
   * What came of another member's snapshot stays. Only at start, before anything is prepared.
   */
  public void removeStrays() {
    io(
        "clean up " + root,
        () -> {
          DurableFiles.createDirectory(root);
          Set<String> known = new HashSet<>();
          for (Path file : manifests()) {
            String name = String.valueOf(file.getFileName());
            known.add(name);
            known.add(name.substring(0, name.length() - MANIFEST_SUFFIX.length()));
          }
          known.add("lost+found");
          known.addAll(ReceivedFiles.names(root));
          try (Stream<Path> paths = Files.list(root)) {
            for (Path path : (Iterable<Path>) paths::iterator) {
              if (!known.contains(String.valueOf(path.getFileName()))) {
                LOG.info("stray removed path={}", path);
                DurableFiles.deleteTree(path);
              }
            }
          }
          DurableFiles.forceDirectory(root);
          return root;
        });
  }

  /**
   * Makes a state directory from a snapshot: table files are shared by hard links where the file
   * system allows it, all others copied, all forced. The snapshot stays whole whatever happens to
   * the state.
   *
   * @param target does not exist or is empty; a crash leaves it so, and perhaps a neighbour named
   *     {@code target + ".restoring"}
   * @throws SnapshotException DAMAGED if the content does not fit its checksums, DISK_FULL or IO
   */
  public void restore(SnapshotRef ref, Path target) {
    verify(ref);
    restoreVerified(ref, target);
  }

  /**
   * As {@link #restore}, of a snapshot that was verified just now: its files are not read again.
   */
  public void restoreVerified(SnapshotRef ref, Path target) {
    SnapshotManifest manifest = manifest(ref);
    io(
        "restore snapshot " + ref.index() + " to " + target,
        () -> {
          Path fresh = target.resolveSibling(target.getFileName() + ".restoring");
          DurableFiles.deleteTree(fresh);
          DurableFiles.createDirectory(fresh);
          Path content = root.resolve(manifest.directory());
          for (FileSum file : manifest.files()) {
            linkOrCopy(content.resolve(file.name()), fresh.resolve(file.name()));
          }
          DurableFiles.forceTree(fresh);
          Files.deleteIfExists(target);
          DurableFiles.rename(fresh, target);
          return target;
        });
  }

  /** Table files never change, so a link will do; RocksDB rewrites the others in place. */
  private static void linkOrCopy(Path from, Path to) throws IOException {
    if (isTable(String.valueOf(from.getFileName()))) {
      try {
        Files.createLink(to, from);
        return;
      } catch (UnsupportedOperationException | IOException e) {
        LOG.debug("copy instead of link path={} reason={}", from, e.toString());
      }
    }
    Files.copy(from, to);
  }

  /** True for table files: they never change, and have one name in the state and all snapshots. */
  public static boolean isTable(String fileName) {
    return fileName.endsWith(".sst");
  }

  /**
   * Snapshots in which a file is damaged that another snapshot has too: table files are shared by
   * hard links.
   *
   * @param file of a manifest of this directory
   * @return indexes, ascending; immutable
   * @throws SnapshotException IO
   */
  public List<Long> damagedBy(FileSum file) {
    List<Long> damaged = new ArrayList<>();
    for (Path manifestFile : manifests()) {
      try {
        SnapshotManifest manifest = read(manifestFile);
        Path path = root.resolve(manifest.directory()).resolve(file.name());
        if (manifest.files().contains(file) && !io("read " + path, () -> file.fits(path))) {
          damaged.add(0, manifest.index());
        }
      } catch (SnapshotException e) {
        if (e.kind() == Kind.IO) {
          throw e;
        }
        LOG.debug("unreadable manifest path={}: {}", manifestFile, e.getMessage());
      }
    }
    return List.copyOf(damaged);
  }

  private void remove(Path manifestFile) {
    String name = String.valueOf(manifestFile.getFileName());
    Path content = root.resolve(name.substring(0, name.length() - MANIFEST_SUFFIX.length()));
    io(
        "remove " + manifestFile,
        () -> {
          Files.deleteIfExists(manifestFile);
          DurableFiles.forceDirectory(root);
          DurableFiles.deleteTree(content);
          DurableFiles.forceDirectory(root);
          return content;
        });
  }

  private @Nullable SnapshotManifest newestManifest() {
    for (Path file : manifests()) {
      try {
        return read(file);
      } catch (SnapshotException e) {
        LOG.error("snapshot manifest unreadable path={} reason={}", file, e.getMessage());
      }
    }
    return null;
  }

  private SnapshotManifest read(Path file) {
    SnapshotManifest manifest =
        SnapshotManifest.decode(io("read " + file, () -> Files.readAllBytes(file)));
    if (!file.equals(manifestFile(manifest.index(), manifest.term()))
        || !manifest.directory().equals(baseName(manifest.index(), manifest.term()))) {
      throw new SnapshotException(Kind.DAMAGED, file + " speaks of " + manifest.directory());
    }
    return manifest;
  }

  private void checkSizes(SnapshotManifest manifest) {
    for (FileSum file : manifest.files()) {
      Path path = root.resolve(manifest.directory()).resolve(file.name());
      if (!Files.isRegularFile(path)) {
        throw new SnapshotException(Kind.DAMAGED, path + " is missing");
      }
      long size = io("read " + path, () -> Files.size(path));
      if (size != file.size()) {
        throw new SnapshotException(
            Kind.DAMAGED, path + " has " + size + " bytes instead of " + file.size());
      }
    }
  }

  private SnapshotRef ref(SnapshotManifest manifest) {
    return new SnapshotRef(
        manifest.index(),
        manifest.term(),
        manifest.membership(),
        root.resolve(manifest.directory()));
  }

  /** Manifests by name, greatest index first. */
  private List<Path> manifests() {
    return io(
        "list " + root,
        () -> {
          List<Path> found = new ArrayList<>();
          if (Files.isDirectory(root)) {
            try (Stream<Path> paths = Files.list(root)) {
              paths
                  .filter(p -> MANIFEST.matcher(String.valueOf(p.getFileName())).matches())
                  .sorted(Comparator.reverseOrder())
                  .forEach(found::add);
            }
          }
          return found;
        });
  }

  private static long indexOf(Path manifestFile) {
    Matcher matcher = MANIFEST.matcher(String.valueOf(manifestFile.getFileName()));
    if (!matcher.matches()) {
      throw new IllegalArgumentException(manifestFile + " is no manifest");
    }
    return Long.parseUnsignedLong(matcher.group(1), 16);
  }

  private Path manifestFile(long index, long term) {
    return root.resolve(baseName(index, term) + MANIFEST_SUFFIX);
  }

  private static String baseName(long index, long term) {
    return String.format("%016x-%016x", index, term);
  }

  private interface DiskWork<T> {
    T run() throws IOException;
  }

  private static <T> T io(String what, DiskWork<T> work) {
    try {
      return work.run();
    } catch (IOException e) {
      Kind kind = DurableFiles.isDiskFull(e) ? Kind.DISK_FULL : Kind.IO;
      throw new SnapshotException(kind, "cannot " + what + ": " + e, e);
    }
  }
}
