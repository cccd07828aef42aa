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
 * An object made from files, which is created again when one of the files changes. While the files
 * cannot be read, or do not match because only one of them is replaced yet, the previous object
 * stays in use. That is logged once for each state of the files. Thread-safe.
 */
final class ReloadableFile<T> {
  private static final Logger LOG = LoggerFactory.getLogger(ReloadableFile.class);

  /** Distinguishes a file from its successor, also if a link changes its target. */
  private record Stamp(Object identity, long size, long modifiedNanos) {}

  private final List<Path> files;
  private final Supplier<T> maker;
  private List<Object> seen;
  private T current;

  /**
   * Creates the object from the current files.
   *
   * @throws TlsException as {@code maker} throws it
   */
  ReloadableFile(List<Path> files, Supplier<T> maker) {
    this.files = List.copyOf(files);
    this.maker = maker;
    this.seen = stamps();
    this.current = maker.get();
  }

  /** Returns the object for the current files if they are valid, else the previous one. */
  synchronized T get() {
    List<Object> now = stamps();
    if (!now.equals(seen)) {
      seen = now;
      try {
        current = maker.get();
        LOG.info("certificates were read again files={}", files);
      } catch (TlsException e) {
        LOG.warn(
            "cannot use changed certificates, the previous ones stay in use reason={}",
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
