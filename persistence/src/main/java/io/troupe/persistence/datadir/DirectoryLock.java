package io.troupe.persistence.datadir;

import io.troupe.persistence.datadir.DataDirException.Reason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * An exclusive lock on a file that contains the process id of its holder. The operating system
 * releases it when the process ends, however it ends.
 */
final class DirectoryLock implements AutoCloseable {
  /**
   * Files locked by this process. POSIX releases a process's lock when the process closes any
   * descriptor of the file, so a second attempt in this process must not even open it.
   */
  private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

  private final Path key;
  private final FileChannel channel;

  private DirectoryLock(Path key, FileChannel channel) {
    this.key = key;
    this.channel = channel;
  }

  /**
   * Acquires the lock.
   *
   * @throws DataDirException IN_USE with the holder's process id, UNUSABLE or NOT_WRITABLE
   */
  static DirectoryLock acquire(Path file) {
    Path key = file.toAbsolutePath().normalize();
    long pid = ProcessHandle.current().pid();
    if (!HELD.add(key)) {
      throw inUse(file, "this process (pid " + pid + ")");
    }
    @Nullable DirectoryLock lock = null;
    try {
      lock = new DirectoryLock(key, open(key, pid));
      return lock;
    } catch (IOException e) {
      throw DataDirException.failed("cannot lock " + file, e);
    } finally {
      if (lock == null) {
        HELD.remove(key);
      }
    }
  }

  private static FileChannel open(Path file, long pid) throws IOException {
    FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    boolean locked = false;
    try {
      FileLock lock = channel.tryLock();
      if (lock == null) {
        String holder = Files.readString(file).strip();
        throw inUse(file, holder.isEmpty() ? "another process" : "the process with " + holder);
      }
      channel.truncate(0);
      byte[] holder = ("pid " + pid + "\n").getBytes(StandardCharsets.UTF_8);
      channel.write(ByteBuffer.wrap(holder), 0);
      locked = true;
      return channel;
    } finally {
      if (!locked) {
        channel.close();
      }
    }
  }

  private static DataDirException inUse(Path file, String holder) {
    return new DataDirException(Reason.IN_USE, file.getParent() + " is in use by " + holder);
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new DataDirException(Reason.NOT_WRITABLE, "cannot release " + key, e);
    } finally {
      HELD.remove(key);
    }
  }
}
