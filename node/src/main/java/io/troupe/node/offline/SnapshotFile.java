package io.troupe.node.offline;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.StringJoiner;

/** A saved snapshot: a database file, usually followed by its SHA-256 (MT9, SN1). */
final class SnapshotFile {
  private static final int HASH_BYTES = 32;
  private static final int SECTOR_BYTES = 512;
  private static final int BUFFER_BYTES = 1 << 20;

  private SnapshotFile() {}

  /**
   * Checks that the file exists and is intact.
   *
   * @param skipHash true for a file that was copied from a data directory and has no hash
   * @throws CommandException in etcdutl's words
   */
  static void check(Path file, boolean skipHash) {
    try {
      long size = Files.size(file);
      boolean hashed = size % SECTOR_BYTES == HASH_BYTES;
      if (skipHash) {
        return;
      }
      if (!hashed) {
        throw new CommandException("snapshot missing hash but --skip-hash-check=false");
      }
      checkHash(file, size - HASH_BYTES);
    } catch (NoSuchFileException e) {
      throw new CommandException("open " + file + ": no such file or directory");
    } catch (IOException e) {
      throw new CommandException("cannot read " + file + ": " + e);
    }
  }

  private static void checkHash(Path file, long bytes) throws IOException {
    MessageDigest digest;
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
    byte[] buffer = new byte[BUFFER_BYTES];
    byte[] expected;
    try (InputStream in = Files.newInputStream(file)) {
      for (long left = bytes; left > 0; ) {
        int read = in.read(buffer, 0, (int) Math.min(buffer.length, left));
        if (read < 0) {
          throw new CommandException(file + " became shorter while it was read");
        }
        digest.update(buffer, 0, read);
        left -= read;
      }
      expected = in.readNBytes(HASH_BYTES);
    }
    byte[] found = digest.digest();
    if (!MessageDigest.isEqual(expected, found)) {
      throw new CommandException("expected sha256 " + text(expected) + ", got " + text(found));
    }
  }

  /** The form in which etcdutl prints bytes. */
  private static String text(byte[] bytes) {
    StringJoiner text = new StringJoiner(" ", "[", "]");
    for (byte b : bytes) {
      text.add(Integer.toString(b & 0xff));
    }
    return text.toString();
  }
}
