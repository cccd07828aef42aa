package io.troupe.node.tls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Something that is made of files, and made again when one of them is another one than before.
 * While they cannot be read, or do not fit together because only one of them was replaced yet, the
 * former stays in use, and the log says so once for each state of the files. Thread-safe.
 */
final class ReloadableFile<T> {
  private static final Logger LOG = LoggerFactory.getLogger(ReloadableFile.class);

  /** What tells a file from its successor, also if a link to it was turned to another one. */
  private record Stamp(Object identity, long size, long modifiedNanos) {}

  private final List<Path> files;
  private final Supplier<T> maker;
  private List<Object> seen;
  private T current;

  /**
   * Made now.
   *
   * @throws TlsException what {@code maker} throws
   */
  ReloadableFile(List<Path> files, Supplier<T> maker) {
    this.files = List.copyOf(files);
    this.maker = maker;
    this.seen = stamps();
    this.current = maker.get();
  }

  /** As the files are now, if they are in order. */
  synchronized T get() {
    List<Object> now = stamps();
    if (!now.equals(seen)) {
      seen = now;
      try {
        current = maker.get();
        LOG.info("certificates were read again files={}", files);
      } catch (TlsException e) {
        LOG.warn(
            "changed certificates cannot be used, the former stay in use reason={}",
            e.getMessage());
      }
    }
    return current;
  }

  private List<Object> stamps() {
    return files.stream().map(ReloadableFile::stamp).toList();
  }

  private static Object stamp(Path file) {
    try {
      BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
      Object key = found.fileKey();
      return new Stamp(
          key == null ? file : key,
          found.size(),
          found.lastModifiedTime().to(java.util.concurrent.TimeUnit.NANOSECONDS));
    } catch (IOException missing) {
      return missing.toString();
    }
  }
}
