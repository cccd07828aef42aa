package io.troupe.persistence.wal;

import io.troupe.model.Bytes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Finds the complete records of a segment's data file by their headers, even if the bytes around
 * them are damaged. Uses plain file reads: a tailer over mapped memory can hang, run past the end
 * or fault on a damaged or truncated file.
 */
final class SegmentScanner implements AutoCloseable {
  private static final int WINDOW = 256 << 10;
  private static final byte FIRST = (byte) (WalRecord.MAGIC >>> 24);

  private final FileChannel channel;
  private final String segment;
  private final long salt;
  private final long size;
  private final byte[] window = new byte[WINDOW];
  private long windowAt;
  private int windowLength;
  private long next;

  SegmentScanner(Path file, SegmentName name) throws IOException {
    channel = FileChannel.open(file, StandardOpenOption.READ);
    segment = name.text();
    salt = name.salt();
    size = channel.size();
  }

  /** Sets the position at which the search for the next record starts. */
  void startAt(long position) {
    next = position & ~3L;
  }

  /**
   * A record and its position.
   *
   * @param position position of its header in the file
   * @param end first byte after it
   */
  record Found(WalRecord record, long position, long end) {}

  /**
   * Returns the next complete record at a multiple of four bytes, or null if there is none.
   *
   * @throws WalCorruptException if a complete header has an unknown version
   */
  @Nullable Found next() throws IOException {
    while (next + WalRecord.HEADER_BYTES <= size) {
      load(next, WalRecord.HEADER_BYTES);
      int at = (int) (next - windowAt);
      int last = windowLength - WalRecord.HEADER_BYTES;
      while (at <= last && window[at] != FIRST) {
        at += 4;
      }
      next = windowAt + at;
      if (at > last) {
        continue;
      }
      Found found = recordAt(at);
      if (found != null) {
        next = (found.end() + 3) & ~3L;
        return found;
      }
      next += 4;
    }
    return null;
  }

  private @Nullable Found recordAt(int at) throws IOException {
    WalRecord.Header header = WalRecord.header(window, at, salt);
    if (header == null) {
      return null;
    }
    long position = windowAt + at;
    if (header.version() != WalRecord.VERSION) {
      throw new WalCorruptException(
          segment, position, "record version " + header.version() + " is unknown");
    }
    long payloadAt = position + WalRecord.HEADER_BYTES;
    if (header.length() > size - payloadAt) {
      return null;
    }
    byte[] payload = read(payloadAt, header.length());
    if (WalRecord.crc(salt, payload, 0, payload.length) != header.payloadCrc()) {
      return null;
    }
    WalRecord record =
        new WalRecord(header.type(), header.sequence(), header.forced(), Bytes.wrap(payload));
    return new Found(record, position, payloadAt + payload.length);
  }

  /** True if every byte of the file from {@code position} on is zero. */
  boolean zeroFrom(long position) throws IOException {
    for (long at = position; at < size; at = windowAt + windowLength) {
      load(at, 1);
      for (int i = (int) (at - windowAt); i < windowLength; i++) {
        if (window[i] != 0) {
          return false;
        }
      }
    }
    return true;
  }

  private void load(long position, int length) throws IOException {
    if (position >= windowAt && position + length <= windowAt + windowLength) {
      return;
    }
    windowAt = position;
    windowLength = (int) Math.min(WINDOW, size - position);
    fill(position, window, 0, windowLength);
  }

  private byte[] read(long position, int length) throws IOException {
    byte[] bytes = new byte[length];
    int held = 0;
    if (position >= windowAt && position < windowAt + windowLength) {
      held = (int) Math.min(length, windowAt + windowLength - position);
      System.arraycopy(window, (int) (position - windowAt), bytes, 0, held);
    }
    fill(position + held, bytes, held, length - held);
    return bytes;
  }

  private void fill(long position, byte[] target, int at, int length) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(target, at, length);
    while (buffer.hasRemaining()) {
      int count = channel.read(buffer, position + buffer.position() - at);
      if (count < 0) {
        throw new IOException(segment + " shrank while it was read");
      }
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
