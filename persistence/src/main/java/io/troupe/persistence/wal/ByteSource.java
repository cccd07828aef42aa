package io.troupe.persistence.wal;

import io.troupe.model.Bytes;

/** Reads data of {@link ByteSink}. Throws IllegalArgumentException at the end of the bytes. */
final class ByteSource {
  private final byte[] bytes;
  private int at;

  ByteSource(Bytes bytes) {
    this.bytes = bytes.toArrayUnsafe();
  }

  boolean atEnd() {
    return at == bytes.length;
  }

  int getByte() {
    need(1);
    return bytes[at++] & 0xff;
  }

  long getLong() {
    need(8);
    at += 8;
    return longAt(bytes, at - 8);
  }

  long getVarint() {
    long value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      int b = getByte();
      value |= (long) (b & 0x7f) << shift;
      if (b < 0x80) {
        return value;
      }
    }
    throw new IllegalArgumentException("number longer than 64 bits");
  }

  int getCount() {
    long value = getVarint();
    if (value < 0 || value > bytes.length - at) {
      throw new IllegalArgumentException("count " + value + " exceeds the record");
    }
    return (int) value;
  }

  /** A slice of the backing array. */
  Bytes getBytes(int length) {
    need(length);
    at += length;
    return Bytes.wrap(bytes, at - length, length);
  }

  static int intAt(byte[] bytes, int at) {
    return (bytes[at] & 0xff) << 24
        | (bytes[at + 1] & 0xff) << 16
        | (bytes[at + 2] & 0xff) << 8
        | (bytes[at + 3] & 0xff);
  }

  static long longAt(byte[] bytes, int at) {
    return (long) intAt(bytes, at) << 32 | (intAt(bytes, at + 4) & 0xffffffffL);
  }

  private void need(int count) {
    if (bytes.length - at < count) {
      throw new IllegalArgumentException("record is truncated");
    }
  }
}
