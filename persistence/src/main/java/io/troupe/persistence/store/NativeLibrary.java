package io.troupe.persistence.store;

import io.troupe.persistence.datadir.DurableFiles;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDB;
import org.rocksdb.util.Environment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * RocksDB's native library, unpacked once and kept: unpacking it takes a fifth of the CPU time of a
 * start. Its directory is named after its checksum, so every version has its own.
 *
 * <p>The loaded code has all rights of the process. So a cached file is used only if it and its
 * directory belong to this process's user or to root, no other user can write them, and its content
 * has the checksum that the jar names. Several processes may share a cache: a complete file gets
 * its name by a rename.
 */
public final class NativeLibrary {
  private static final Logger LOG = LoggerFactory.getLogger(NativeLibrary.class);

  /** Belongs to the user that runs the process. */
  private static final Path SELF = Path.of("/proc/self");

  private static boolean loaded;

  private NativeLibrary() {}

  /**
   * Loads the library from the cache, unpacking it there if it is missing or damaged. Does nothing
   * if it is already loaded.
   *
   * @param cache directory, created if missing; may be shared with other processes and programs
   * @return true if it is loaded now. If not, the reason is logged, and opening a store unpacks the
   *     library elsewhere
   */
  public static synchronized boolean load(Path cache) {
    if (loaded) {
      return true;
    }
    try {
      Path directory = unpacked(cache);
      if (directory != null) {
        RocksDB.loadLibrary(List.of(directory.toString()));
        loaded = true;
      }
    } catch (IOException | UnsatisfiedLinkError e) {
      LOG.warn(
          "native library not loaded, RocksDB unpacks it elsewhere cache={} reason={}",
          cache,
          e.toString());
    }
    return loaded;
  }

  static synchronized boolean isLoaded() {
    return loaded;
  }

  /**
   * Returns the checked directory of the library.
   *
   * @return null if ownership cannot be determined, or the library is not from a jar
   * @throws IOException if it cannot be written, or other users can change it
   */
  static @Nullable Path unpacked(Path cache) throws IOException {
    JarEntry entry = entry();
    if (entry == null || !Files.exists(SELF)) {
      return null;
    }
    Path directory =
        cache.resolve("rocksdbjni-" + Long.toHexString(entry.getCrc()) + "-" + entry.getSize());
    DurableFiles.createDirectory(directory);
    requireSafe(directory);
    // The name that RocksDB expects in a given directory.
    Path library = directory.resolve(Environment.getJniLibraryFileName("rocksdbjni"));
    if (!isWhole(library, entry)) {
      unpack(directory, library);
      if (!isWhole(library, entry)) {
        throw new IOException(library + " does not match the library in the jar");
      }
    }
    return directory;
  }

  private static @Nullable URL resource() {
    return RocksDB.class.getClassLoader().getResource(Environment.getJniLibraryFileName("rocksdb"));
  }

  private static @Nullable JarEntry entry() throws IOException {
    URL resource = resource();
    if (resource == null) {
      return null;
    }
    URLConnection connection = resource.openConnection();
    return connection instanceof JarURLConnection jar ? jar.getJarEntry() : null;
  }

  /** Only this process's user and root may be able to replace the content. */
  private static void requireSafe(Path path) throws IOException {
    PosixFileAttributes attributes =
        Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    UserPrincipal owner = attributes.owner();
    if (!owner.equals(Files.getOwner(SELF)) && !owner.getName().equals("root")) {
      throw new IOException(path + " belongs to " + owner.getName());
    }
    if (attributes.isSymbolicLink()
        || attributes.permissions().contains(PosixFilePermission.GROUP_WRITE)
        || attributes.permissions().contains(PosixFilePermission.OTHERS_WRITE)) {
      throw new IOException(path + " is writable by other users");
    }
  }

  private static boolean isWhole(Path library, JarEntry entry) throws IOException {
    if (!Files.isRegularFile(library, LinkOption.NOFOLLOW_LINKS)
        || Files.size(library) != entry.getSize()) {
      return false;
    }
    requireSafe(library);
    CRC32 sum = new CRC32();
    byte[] block = new byte[1 << 20];
    try (InputStream in = Files.newInputStream(library)) {
      for (int n = in.read(block); n > 0; n = in.read(block)) {
        sum.update(block, 0, n);
      }
    }
    return sum.getValue() == entry.getCrc();
  }

  private static void unpack(Path directory, Path library) throws IOException {
    URL resource = resource();
    if (resource == null) {
      throw new IOException("no library for this platform");
    }
    // The JDK creates the file with rights for its owner alone.
    Path fresh = Files.createTempFile(directory, "unpacking", ".new");
    try (InputStream in = resource.openStream()) {
      // Not REPLACE_EXISTING: that would create the file again, with default rights.
      try (OutputStream out = Files.newOutputStream(fresh)) {
        in.transferTo(out);
      }
      Files.move(fresh, library, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(fresh);
    }
  }
}
