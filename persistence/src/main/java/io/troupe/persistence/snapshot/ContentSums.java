package io.troupe.persistence.snapshot;

import io.troupe.persistence.snapshot.SnapshotManifest.FileSum;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Sizes and checksums of the files of a content directory. */
final class ContentSums {
  private static final int BUFFER_BYTES = 256 << 10;

  private ContentSums() {}

  /**
   * Returns the files of {@code directory}, sorted by name. A table file that is shared with the
   * previous snapshot (a hard link to the same file) keeps its checksum: it never changes, and
   * reading gigabytes again for each snapshot would be expensive.
   *
   * @param earlier the previous snapshot's manifest, or null
   * @param earlierContent its content directory
   * @param newTables checks the table files that get their first checksum
   */
  static List<FileSum> of(
      Path directory,
      @Nullable SnapshotManifest earlier,
      @Nullable Path earlierContent,
      TableCheck newTables)
      throws IOException {
    Map<String, FileSum> known = new HashMap<>();
    if (earlier != null && earlierContent != null) {
      for (FileSum file : earlier.files()) {
        if (sameFile(directory.resolve(file.name()), earlierContent.resolve(file.name()))) {
          known.put(file.name(), file);
        }
      }
    }
    List<FileSum> sums = new ArrayList<>();
    try (Stream<Path> paths = Files.list(directory).sorted()) {
      for (Path path : (Iterable<Path>) paths::iterator) {
        if (!Files.isRegularFile(path)) {
          throw new IOException(path + " is not a regular file");
        }
        String name = String.valueOf(path.getFileName());
        FileSum sum = known.get(name);
        if (sum == null || sum.size() != Files.size(path)) {
          sum = new FileSum(name, Files.size(path), crc32c(path));
          if (SnapshotDirectory.isTable(name)) {
            // Before the checksum is computed: it detects later damage.
            newTables.check(path);
          }
        }
        sums.add(sum);
      }
    }
    return sums;
  }

  private static boolean sameFile(Path one, Path other) throws IOException {
    if (!Files.exists(one) || !Files.exists(other)) {
      return false;
    }
    Object key = Files.readAttributes(one, BasicFileAttributes.class).fileKey();
    return key != null
        && Objects.equals(key, Files.readAttributes(other, BasicFileAttributes.class).fileKey());
  }

  static int crc32c(Path file) throws IOException {
    java.util.zip.CRC32C crc = new java.util.zip.CRC32C();
    ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      while (channel.read(buffer) >= 0) {
        buffer.flip();
        crc.update(buffer);
        buffer.clear();
      }
    }
    return (int) crc.getValue();
  }
}
