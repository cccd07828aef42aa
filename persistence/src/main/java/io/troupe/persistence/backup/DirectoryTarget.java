package io.troupe.persistence.backup;

import io.troupe.persistence.datadir.DurableFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * A directory for backups, perhaps on another machine. A file is written under another name first,
 * which no other target uses: two members that both believe to lead may write the same file.
 */
public final class DirectoryTarget implements BackupTarget {
  private static final String INCOMPLETE = ".new";

  /** An incomplete file that has not grown for so long belongs to a writer that crashed. */
  private static final Duration ABANDONED = Duration.ofDays(1);

  private final Path root;
  private final String suffix = "." + UUID.randomUUID() + INCOMPLETE;
  private final Set<Path> cleaned = ConcurrentHashMap.newKeySet();

  /** Uses a directory, which is created when something is written. */
  public DirectoryTarget(Path root) {
    this.root = root.toAbsolutePath().normalize();
  }

  @Override
  public List<String> list(String folder) throws IOException {
    Path directory = root.resolve(folder);
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .map(file -> String.valueOf(file.getFileName()))
          .filter(name -> !name.endsWith(INCOMPLETE))
          .sorted()
          .toList();
    }
  }

  @Override
  public boolean has(String name) {
    return Files.isRegularFile(root.resolve(name));
  }

  @Override
  public void write(String name, Content content) throws IOException {
    Path file = root.resolve(name);
    Path directory = Objects.requireNonNull(file.getParent());
    DurableFiles.createDirectory(directory);
    if (cleaned.add(directory)) {
      deleteAbandoned(directory);
    }
    Path incomplete = file.resolveSibling(file.getFileName() + suffix);
    try (InputStream in = content.open()) {
      Files.copy(in, incomplete, StandardCopyOption.REPLACE_EXISTING);
      DurableFiles.forceFile(incomplete);
      DurableFiles.rename(incomplete, file);
    } finally {
      Files.deleteIfExists(incomplete);
    }
  }

  private static void deleteAbandoned(Path directory) throws IOException {
    Instant limit = Instant.now().minus(ABANDONED);
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.filter(each -> each.toString().endsWith(INCOMPLETE)).toList()) {
        if (Files.getLastModifiedTime(file).toInstant().isBefore(limit)) {
          Files.deleteIfExists(file);
        }
      }
    }
  }

  @Override
  public InputStream read(String name) throws IOException {
    return Files.newInputStream(root.resolve(name));
  }

  @Override
  public void delete(String name) throws IOException {
    Files.deleteIfExists(root.resolve(name));
  }

  @Override
  public String text() {
    return root.toString();
  }
}
