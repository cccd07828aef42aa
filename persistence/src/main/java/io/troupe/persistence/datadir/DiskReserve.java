package io.troupe.persistence.datadir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file of zeros that only occupies space. A start needs some space, for the next log segment and
 * for the files that RocksDB writes when it opens; on a full disk it removes this file first. So a
 * member can start there, serve reads, and apply deletions that free space. Not thread-safe.
 */
public final class DiskReserve {
  /** Name of the file in the data directory and in the log's own directory. */
  static final String FILE = "reserve";

  private static final int BLOCK_BYTES = 1 << 20;

  private final Path file;
  private final long bytes;

  /**
   * @param directory must exist when {@link #keep} is called
   * @param bytes size of the reserve; 0 for none
   */
  public DiskReserve(Path directory, long bytes) {
    this.file = directory.resolve(FILE);
    this.bytes = bytes;
  }

  /** Path of the file. */
  public Path file() {
    return file;
  }

  /** Size of the complete reserve in bytes; 0 if it is disabled. */
  public long wantedBytes() {
    return bytes;
  }

  /**
   * Current size of the file in bytes: 0 while it is released or not created yet.
   *
   * @throws IOException if the disk fails
   */
  public long presentBytes() throws IOException {
    return Files.isRegularFile(file) ? Files.size(file) : 0;
  }

  /**
   * Removes the file if the file system has less free space than the size of the file.
   *
   * @return true if it was removed
   */
  public boolean releaseIfFull() throws IOException {
    return Files.isRegularFile(file)
        && Files.getFileStore(file).getUsableSpace() < Files.size(file)
        && Files.deleteIfExists(file);
  }

  /**
   * Creates the file if it is missing or has another size, and enough free space remains. Blocks
   * until it is on the disk.
   *
   * @param leaveFree bytes that stay free
   */
  public void keep(long leaveFree) throws IOException {
    if (Files.isRegularFile(file) && Files.size(file) == bytes) {
      return;
    }
    Files.deleteIfExists(file);
    long free = Files.getFileStore(file.toAbsolutePath().getParent()).getUsableSpace();
    if (bytes == 0 || free - bytes < leaveFree) {
      return;
    }
    boolean made = false;
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      for (long written = 0; written < bytes; ) {
        ByteBuffer zeros = ByteBuffer.allocate((int) Math.min(BLOCK_BYTES, bytes - written));
        while (zeros.hasRemaining()) {
          written += channel.write(zeros);
        }
      }
      channel.force(true);
      made = true;
    } finally {
      if (!made) {
        Files.deleteIfExists(file);
      }
    }
  }
}
