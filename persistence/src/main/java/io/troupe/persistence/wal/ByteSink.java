package io.troupe.persistence.wal;

import io.troupe.model.Bytes;
import java.util.Arrays;

/** A growing, reusable byte array with the number encodings of the log: big-endian and varint. */
final class ByteSink {
  private byte[] bytes = new byte[4096];
  private int size;

  void reset() {
    size = 0;
    if (bytes.length > 1 << 22) {
      bytes = new byte[4096];
    }
  }

  int size() {
    return size;
  }

  byte[] array() {
    return bytes;
  }

  /** Leaves space for {@code count} bytes to be set later. */
  void skip(int count) {
    ensureSpace(count);
    size += count;
  }

  void putByte(int value) {
    ensureSpace(1);
    bytes[size++] = (byte) value;
  }

  void putInt(int at, int value) {
    for (int i = 0; i < 4; i++) {
      bytes[at + i] = (byte) (value >>> (24 - 8 * i));
    }
  }

  void putLong(int at, long value) {
    putInt(at, (int) (value >>> 32));
    putInt(at + 4, (int) value);
  }

  void putLong(long value) {
    skip(8);
    putLong(size - 8, value);
  }

  /** Unsigned, seven bits a byte, low bits first. */
  void putVarint(long value) {
    ensureSpace(10);
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      bytes[size++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[size++] = (byte) rest;
  }

  void putBytes(Bytes value) {
    ensureSpace(value.length());
    size = value.copyTo(bytes, size);
  }

  private void ensureSpace(int count) {
    if (bytes.length - size < count) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + count));
    }
  }
}
