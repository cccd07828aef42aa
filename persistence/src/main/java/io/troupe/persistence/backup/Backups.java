package io.troupe.persistence.backup;

import io.troupe.persistence.backup.BackupManifest.StoredFile;
import io.troupe.persistence.datadir.DurableFiles;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The backups in one target. A file of the state is stored once, under its checksum, so a backup
 * writes only the files that no earlier one has. Table files never change, so a backup of a large
 * state with few changes is small. A backup exists exactly while its manifest does, which is
 * written last. Blocking; one writer at a time for each target.
 */
public final class Backups {
  static final String FILES = "files";
  private static final String MANIFESTS = "manifests";
  private static final String SUFFIX = ".manifest";
  private static final int BUFFER_BYTES = 256 << 10;
  private static final Logger LOG = LoggerFactory.getLogger(Backups.class);

  private final BackupTarget target;

  /** Uses a target. */
  public Backups(BackupTarget target) {
    this.target = target;
  }

  /**
   * Where a state comes from.
   *
   * @param index last entry of the log that it contains
   * @param term of that entry
   */
  public record Origin(
      Instant time, long cluster, long member, long index, long term, long revision) {}

  /**
   * Writes a backup, and reads each new file of it again.
   *
   * @param content directory of a checkpoint; its files do not change
   * @throws BackupException if the target cannot be written, or returns other bytes; the backup
   *     does not exist then
   */
  public BackupManifest write(Path content, Origin origin) {
    try {
      List<StoredFile> files = new ArrayList<>();
      for (Path file : files(content)) {
        StoredFile stored = describe(file);
        if (!target.has(stored.stored())) {
          target.write(stored.stored(), () -> Files.newInputStream(file));
          copy(stored, OutputStream.nullOutputStream());
        }
        files.add(stored);
      }
      BackupManifest manifest =
          new BackupManifest(
              origin.time(),
              origin.cluster(),
              origin.member(),
              origin.index(),
              origin.term(),
              origin.revision(),
              files);
      byte[] encoded = manifest.encode();
      target.write(nameOf(manifest.id()), () -> new ByteArrayInputStream(encoded));
      return manifest;
    } catch (IOException e) {
      throw new BackupException("cannot write a backup to " + target.text() + ": " + e, e);
    }
  }

  private static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.sorted().toList();
    }
  }

  private static StoredFile describe(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      String name = String.valueOf(file.getFileName());
      return new StoredFile(name, Files.size(file), sha256(in, OutputStream.nullOutputStream()));
    }
  }

  /** Copies everything and returns the checksum. */
  private static String sha256(InputStream in, OutputStream out) throws IOException {
    MessageDigest digest = digest();
    byte[] buffer = new byte[BUFFER_BYTES];
    for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
      digest.update(buffer, 0, count);
      out.write(buffer, 0, count);
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  private static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  private static String nameOf(String id) {
    return MANIFESTS + "/" + id + SUFFIX;
  }

  /**
   * All backups with a valid manifest, the newest first. Others are logged and skipped.
   *
   * @throws BackupException if the target cannot be read
   */
  public List<BackupManifest> list() {
    List<BackupManifest> found = new ArrayList<>();
    try {
      for (String name : target.list(MANIFESTS)) {
        try {
          found.add(manifest(MANIFESTS + "/" + name));
        } catch (BackupException damaged) {
          LOG.error("backup skipped reason={}", damaged.getMessage());
        }
      }
    } catch (IOException e) {
      throw new BackupException("cannot read backups in " + target.text() + ": " + e, e);
    }
    found.sort(
        Comparator.comparing(BackupManifest::time).thenComparing(BackupManifest::index).reversed());
    return found;
  }

  private BackupManifest manifest(String name) throws IOException {
    try (InputStream in = target.read(name)) {
      return BackupManifest.decode(name, in.readAllBytes());
    }
  }

  /**
   * Finds a backup.
   *
   * @param id empty: the newest one
   * @throws BackupException if there is none; the message names those that exist
   */
  public BackupManifest find(String id) {
    List<BackupManifest> all = list();
    return all.stream()
        .filter(backup -> id.isEmpty() || backup.id().equals(id))
        .findFirst()
        .orElseThrow(
            () ->
                new BackupException(
                    (id.isEmpty() ? "no backup" : "no backup " + id)
                        + " in "
                        + target.text()
                        + "; there are "
                        + all.stream().map(BackupManifest::id).toList()));
  }

  /**
   * Compares every byte of a backup with its checksums.
   *
   * @throws BackupException that names the first missing or damaged file
   */
  public void verify(BackupManifest backup) {
    for (StoredFile file : backup.files()) {
      try {
        copy(file, OutputStream.nullOutputStream());
      } catch (IOException e) {
        throw new BackupException(
            "backup " + backup.id() + ": cannot read " + file.name() + ": " + e, e);
      }
    }
  }

  /**
   * Copies a stored file.
   *
   * @throws BackupException if its bytes do not match its checksum
   */
  private void copy(StoredFile file, OutputStream out) throws IOException {
    try (InputStream in = target.read(file.stored())) {
      if (!sha256(in, out).equals(file.sha256())) {
        throw new BackupException(
            target.text()
                + "/"
                + file.stored()
                + " ("
                + file.name()
                + ") does not match its checksum");
      }
    }
  }

  /**
   * Copies the state of a backup to a directory, durably.
   *
   * @param directory missing or empty; after a failure it may contain some files
   * @param copied receives the number of bytes so far, after each file
   * @throws BackupException if the backup is damaged, or the directory cannot be written
   */
  public void restore(BackupManifest backup, Path directory, LongConsumer copied) {
    try {
      DurableFiles.createDirectory(directory);
      long bytes = 0;
      for (StoredFile file : backup.files()) {
        try (OutputStream out = Files.newOutputStream(directory.resolve(file.name()))) {
          copy(file, out);
        }
        bytes += file.size();
        copied.accept(bytes);
      }
      DurableFiles.forceTree(directory);
    } catch (IOException e) {
      throw new BackupException("cannot restore backup " + backup.id() + ": " + e, e);
    }
  }

  /**
   * Deletes all but the newest backups of a cluster, and the files and the log that no backup
   * needs. Manifests first: a crash leaves files that the next call deletes. While a manifest is
   * damaged, no files are deleted.
   *
   * @param keep number of backups, 1 or more
   * @return ids of the deleted backups
   */
  public List<String> retain(long cluster, int keep) {
    List<BackupManifest> kept = new ArrayList<>();
    List<BackupManifest> old = new ArrayList<>();
    int ofCluster = 0;
    for (BackupManifest backup : list()) {
      ofCluster += backup.cluster() == cluster ? 1 : 0;
      boolean isOld = backup.cluster() == cluster && ofCluster > keep;
      (isOld ? old : kept).add(backup);
    }
    try {
      for (BackupManifest backup : old) {
        target.delete(nameOf(backup.id()));
      }
      List<String> deleted = old.stream().map(BackupManifest::id).toList();
      if (target.list(MANIFESTS).size() > kept.size()) {
        LOG.warn("files of backups are kept, a manifest is damaged target={}", target.text());
        return deleted;
      }
      Set<String> needed = new HashSet<>();
      kept.forEach(backup -> backup.files().forEach(file -> needed.add(file.stored())));
      for (String name : target.list(FILES)) {
        if (!needed.contains(FILES + "/" + name)) {
          target.delete(FILES + "/" + name);
        }
      }
      kept.stream()
          .filter(backup -> backup.cluster() == cluster)
          .mapToLong(BackupManifest::index)
          .min()
          .ifPresent(oldest -> new BackupLog(target).retain(cluster, oldest));
      return deleted;
    } catch (IOException e) {
      throw new BackupException("cannot delete old backups in " + target.text() + ": " + e, e);
    }
  }
}
