package io.troupe.persistence.datadir;

import io.troupe.model.NodeId;
import io.troupe.persistence.datadir.CheckedText.BadTextException;
import io.troupe.persistence.datadir.CheckedText.Field;
import io.troupe.persistence.datadir.DataDirException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A separate directory for a member's log, for example on another disk: locked like the data
 * directory, with a file that names its owner. A missing log, or the log of another member, is
 * never treated as an empty one: a member that forgot its votes could elect two leaders.
 */
final class LogDirectory implements AutoCloseable {
  static final String TITLE = "troupe-wal";
  static final int FORMAT_VERSION = 1;
  private static final String OWNER = "owner";
  private static final String LOCK = "lock";
  private static final String WAL = "wal";
  private static final Set<String> KNOWN =
      Set.of(OWNER, OWNER + ".new", LOCK, WAL, DiskReserve.FILE, "lost+found");

  private final Path root;
  private final DirectoryLock lock;

  private LogDirectory(Path root, DirectoryLock lock) {
    this.root = root;
    this.lock = lock;
  }

  /**
   * Opens and locks the directory.
   *
   * @param member owner of the log; null to start a new log, in a directory that is missing or
   *     contains no log
   * @throws DataDirException IN_USE, NOT_WRITABLE, WRONG_VERSION, FOREIGN (belongs to another
   *     member, or contains other files) or CORRUPT (missing, or its owner file cannot be read)
   */
  static LogDirectory open(Path root, @Nullable MemberIdentity member) throws IOException {
    if (member == null) {
      DurableFiles.createDirectory(root);
      refuseUsed(root);
    } else {
      requireOwner(root, member);
    }
    LogDirectory opened = new LogDirectory(root, DirectoryLock.acquire(root.resolve(LOCK)));
    boolean complete = false;
    try {
      if (member == null) {
        DurableFiles.createDirectory(opened.wal());
      }
      complete = true;
      return opened;
    } finally {
      if (!complete) {
        opened.close();
      }
    }
  }

  /** Writes the owner of the log. Durable when this returns. */
  void bootstrap(MemberIdentity member) throws IOException {
    DurableFiles.replace(root.resolve(OWNER), owner(member));
    DurableFiles.forceDirectory(root);
  }

  /** The directory itself. */
  Path root() {
    return root;
  }

  /** Directory of the log. */
  Path wal() {
    return root.resolve(WAL);
  }

  @Override
  public void close() {
    lock.close();
  }

  /** The content of the file {@code owner}. */
  static byte[] owner(MemberIdentity member) {
    return CheckedText.encode(
        TITLE,
        FORMAT_VERSION,
        List.of(
            new Field("cluster-id", Long.toHexString(member.clusterId())),
            new Field("member-id", member.memberId().toString())));
  }

  private static void requireOwner(Path root, MemberIdentity member) throws IOException {
    Path file = root.resolve(OWNER);
    if (!Files.isRegularFile(file) || !Files.isDirectory(root.resolve(WAL))) {
      throw new DataDirException(
          Reason.CORRUPT,
          "the log of member "
              + member.memberId()
              + " is not in "
              + root
              + ": see whether its disk is mounted, and whether wal-dir is right. Without its log"
              + " the member must not start; if the log is lost, replace the member");
    }
    List<Field> fields;
    long cluster;
    NodeId owner;
    try {
      fields = CheckedText.decode(TITLE, FORMAT_VERSION, Files.readAllBytes(file));
      cluster = Long.parseUnsignedLong(MemberIdentity.value(fields, "cluster-id"), 16);
      owner = MemberIdentity.member(MemberIdentity.value(fields, "member-id"));
    } catch (BadTextException e) {
      Reason reason = e.otherVersion() ? Reason.WRONG_VERSION : Reason.CORRUPT;
      throw new DataDirException(reason, file + ": " + e.getMessage(), e);
    } catch (IllegalArgumentException e) {
      throw new DataDirException(Reason.CORRUPT, file + ": " + e.getMessage(), e);
    }
    if (cluster != member.clusterId() || !owner.equals(member.memberId())) {
      throw new DataDirException(
          Reason.FOREIGN,
          root
              + " holds the log of member "
              + owner
              + " of cluster "
              + Long.toHexString(cluster)
              + ", not of member "
              + member.memberId()
              + " of cluster "
              + Long.toHexString(member.clusterId()));
    }
  }

  /** A start that stopped before the member had an identity leaves an owner file without a log. */
  private static void refuseUsed(Path root) throws IOException {
    try (Stream<Path> names = Files.list(root)) {
      for (Path found : (Iterable<Path>) names::iterator) {
        if (!KNOWN.contains(String.valueOf(found.getFileName()))) {
          throw new DataDirException(
              Reason.FOREIGN, root + " is not a log directory, it contains " + found.getFileName());
        }
      }
    }
    if (!Files.isDirectory(root.resolve(WAL))) {
      return;
    }
    try (Stream<Path> segments = Files.list(root.resolve(WAL))) {
      if (segments.findAny().isPresent()) {
        throw new DataDirException(
            Reason.FOREIGN,
            root
                + " holds a log, but the data directory is fresh: start with the data directory"
                + " that belongs to it, or with an empty wal-dir");
      }
    }
  }
}
