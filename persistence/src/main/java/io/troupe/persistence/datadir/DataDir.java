package io.troupe.persistence.datadir;

import io.troupe.model.NodeId;
import io.troupe.persistence.datadir.CheckedText.BadTextException;
import io.troupe.persistence.datadir.DataDirException.Reason;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The data directory of one member, locked from {@link #open} to {@link #close}.
 *
 * <p>A directory is fresh (no identity yet: {@link #bootstrap} writes it) or belongs to a member.
 * If it is unusable for any reason, its content is not changed.
 */
public final class DataDir implements AutoCloseable {
  private static final String IDENTITY = "identity";
  private static final String LOCK = "lock";
  private static final Set<String> KNOWN =
      Set.of(
          IDENTITY,
          IDENTITY + ".new",
          LOCK,
          "wal",
          "state",
          "snapshots",
          "cache",
          "fixtures",
          DiskReserve.FILE,
          "lost+found");

  private final Path root;
  private final DirectoryLock lock;
  private final @Nullable LogDirectory log;
  private @Nullable MemberIdentity identity;

  private DataDir(
      Path root,
      DirectoryLock lock,
      @Nullable LogDirectory log,
      @Nullable MemberIdentity identity) {
    this.root = root;
    this.lock = lock;
    this.log = log;
    this.identity = identity;
  }

  /** True if a member has been created in that directory. Reads nothing and changes nothing. */
  public static boolean hasOwner(Path root) {
    return Files.exists(root.resolve(IDENTITY));
  }

  /** As below, with the log in the data directory. */
  public static DataDir open(Path root) {
    return open(root, null);
  }

  /**
   * Opens and locks {@code root}, creating it (0700) if it is missing.
   *
   * @param walDir the log's own directory, not below root; null if the log is in root. Fixed when
   *     the directory gets its identity
   * @throws DataDirException IN_USE, UNUSABLE, NOT_WRITABLE, WRONG_VERSION, FOREIGN (the directory
   *     contains other files), LOG_ELSEWHERE or CORRUPT; no lock is held then
   */
  public static DataDir open(Path root, @Nullable Path walDir) {
    try {
      DurableFiles.createDirectory(root);
      refuseForeign(root);
    } catch (IOException e) {
      throw DataDirException.failed("cannot use " + root, e);
    }
    DirectoryLock lock = DirectoryLock.acquire(root.resolve(LOCK));
    @Nullable DataDir opened = null;
    @Nullable LogDirectory log = null;
    try {
      @Nullable IdentityFile found = readIdentity(root);
      if (found == null) {
        refuseOrphans(root);
      } else {
        requireLogThere(root, found, walDir);
      }
      MemberIdentity identity = found == null ? null : found.member();
      if (walDir != null) {
        log = LogDirectory.open(walDir, identity);
      }
      DataDir made = new DataDir(root, lock, log, identity);
      made.createDirectories();
      opened = made;
      return made;
    } catch (IOException e) {
      throw DataDirException.failed("cannot use " + root, e);
    } finally {
      if (opened == null) {
        if (log != null) {
          log.close();
        }
        lock.close();
      }
    }
  }

  private static void requireLogThere(Path root, IdentityFile found, @Nullable Path walDir) {
    String at = found.walDir();
    if (at == null && walDir != null) {
      throw new DataDirException(
          Reason.LOG_ELSEWHERE,
          "the log of member "
              + found.member().memberId()
              + " is in "
              + root
              + ", where it was created, and not in "
              + walDir
              + ": leave wal-dir out; to give the log a directory of its own, replace the member");
    }
    if (at != null && walDir == null) {
      throw new DataDirException(
          Reason.LOG_ELSEWHERE,
          "the log of member "
              + found.member().memberId()
              + " is not in "
              + root
              + ", but in a directory of its own, initially "
              + at
              + ": start with wal-dir");
    }
  }

  /** Identity of the owner, or null while the directory is fresh. */
  public @Nullable MemberIdentity identity() {
    return identity;
  }

  /**
   * Writes the identity of a fresh directory. Durable when this returns.
   *
   * @throws IllegalStateException if it already has one
   * @throws DataDirException NOT_WRITABLE
   */
  public void bootstrap(MemberIdentity member) {
    if (identity != null) {
      throw new IllegalStateException(root + " already belongs to " + identity);
    }
    try {
      String walDir = null;
      if (log != null) {
        // First: an identity without its log could not be distinguished from a lost log.
        log.bootstrap(member);
        walDir = log.root().toString();
      }
      DurableFiles.replace(root.resolve(IDENTITY), new IdentityFile(member, walDir).encode());
      DurableFiles.forceDirectory(root);
    } catch (IOException e) {
      throw new DataDirException(Reason.NOT_WRITABLE, "cannot write the identity: " + e, e);
    }
    identity = member;
  }

  /**
   * Checks that the directory belongs to that member of that cluster.
   *
   * @return the identity on disk
   * @throws DataDirException FOREIGN if it does not, or if it is still fresh
   */
  public MemberIdentity requireMember(long clusterId, NodeId memberId) {
    MemberIdentity held = identity;
    if (held == null) {
      throw new DataDirException(Reason.FOREIGN, root + " does not belong to a member yet");
    }
    if (held.clusterId() != clusterId || !held.memberId().equals(memberId)) {
      throw new DataDirException(
          Reason.FOREIGN,
          root
              + " belongs to member "
              + held.memberId()
              + " of cluster "
              + Long.toHexString(held.clusterId())
              + ", not to member "
              + memberId
              + " of cluster "
              + Long.toHexString(clusterId));
    }
    return held;
  }

  /** The directory itself. */
  public Path root() {
    return root;
  }

  /** Directory of the write-ahead log. */
  public Path wal() {
    return log == null ? root.resolve("wal") : log.wal();
  }

  /** Directory of the store. */
  public Path state() {
    return root.resolve("state");
  }

  /**
   * Directory of the snapshots. On the same file system as {@link #state()}, because they share
   * files.
   */
  public Path snapshots() {
    return root.resolve("snapshots");
  }

  /** True if the log is in a directory of its own. */
  public boolean isLogApart() {
    return log != null;
  }

  /** Releases the lock. */
  @Override
  public void close() {
    if (log != null) {
      log.close();
    }
    lock.close();
  }

  private void createDirectories() throws IOException {
    for (Path part : List.of(wal(), state(), snapshots())) {
      DurableFiles.createDirectory(part);
      // After one start as another user, for example.
      if (!Files.isWritable(part)) {
        throw new AccessDeniedException(part.toString());
      }
    }
  }

  private static @Nullable IdentityFile readIdentity(Path root) throws IOException {
    Path file = root.resolve(IDENTITY);
    if (!Files.exists(file)) {
      return null;
    }
    try {
      return IdentityFile.decode(Files.readAllBytes(file));
    } catch (BadTextException e) {
      Reason reason = e.otherVersion() ? Reason.WRONG_VERSION : Reason.CORRUPT;
      throw new DataDirException(reason, file + ": " + e.getMessage(), e);
    } catch (IllegalArgumentException e) {
      throw new DataDirException(Reason.CORRUPT, file + ": " + e.getMessage(), e);
    }
  }

  private static void refuseForeign(Path root) throws IOException {
    if (Files.exists(root.resolve(IDENTITY))) {
      return;
    }
    try (Stream<Path> names = Files.list(root)) {
      for (Path found : (Iterable<Path>) names::iterator) {
        if (!KNOWN.contains(String.valueOf(found.getFileName()))) {
          throw new DataDirException(
              Reason.FOREIGN, root + " is no data directory, but holds " + found.getFileName());
        }
      }
    }
  }

  private static void refuseOrphans(Path root) throws IOException {
    for (String part : List.of("wal", "state", "snapshots")) {
      Path directory = root.resolve(part);
      if (!Files.isDirectory(directory)) {
        continue;
      }
      try (Stream<Path> names = Files.list(directory)) {
        if (names.anyMatch(p -> !String.valueOf(p.getFileName()).equals("lost+found"))) {
          throw new DataDirException(
              Reason.CORRUPT, directory + " is not empty, but the identity file is missing");
        }
      }
    }
  }
}
