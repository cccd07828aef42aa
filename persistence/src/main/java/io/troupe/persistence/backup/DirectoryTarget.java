package io.troupe.persistence.backup;

import io.troupe.persistence.datadir.DurableFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** A directory for backups, perhaps on another machine. */
public final class DirectoryTarget implements BackupTarget {
  private static final String INCOMPLETE = ".new";

  private final Path root;

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
    DurableFiles.createDirectory(Objects.requireNonNull(file.getParent()));
    Path incomplete = file.resolveSibling(file.getFileName() + INCOMPLETE);
    try (InputStream in = content.open()) {
      Files.copy(in, incomplete, StandardCopyOption.REPLACE_EXISTING);
      DurableFiles.forceFile(incomplete);
      DurableFiles.rename(incomplete, file);
    } finally {
      Files.deleteIfExists(incomplete);
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
