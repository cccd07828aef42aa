package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;

/**
 * Encodes a change as a record of etcd's key bucket (MT7): a revision key and the protobuf message
 * {@code mvccpb.KeyValue}. One thread; each record replaces the one before.
 */
final class EtcdRecord {
  private static final int REVISION_BYTES = 17;
  private static final int MOST_NUMBER_BYTES = 11;

  private byte[] buffer = new byte[512];
  private int keyLength;
  private int length;

  /** Encodes a put. */
  void put(KeyValue kv, int sub) {
    encode(kv.modRevision(), sub, false, kv);
  }

  /** Encodes a deletion: its message contains only the user key. */
  void tombstone(long main, int sub, Bytes userKey) {
    encode(main, sub, true, new KeyValue(userKey, 0, 0, 0, Bytes.EMPTY, 0));
  }

  /**
   * Decodes a message.
   *
   * @throws IllegalArgumentException if it is malformed
   */
  static KeyValue decode(Bytes message) {
    return new EtcdRecordReader(message).read();
  }

  /** Size of the revision key of a record. */
  static int keyBytes(boolean tombstone) {
    return tombstone ? REVISION_BYTES + 1 : REVISION_BYTES;
  }

  /** Size of the message of a record. */
  static long messageBytes(KeyValue kv) {
    return size(kv.key())
        + size(kv.createRevision())
        + size(kv.modRevision())
        + size(kv.version())
        + size(kv.value())
        + size(kv.lease());
  }

  /** Size of the message of a deletion. */
  static long tombstoneBytes(Bytes userKey) {
    return size(userKey);
  }

  /** Revision key and message, up to {@link #length()}; the next record overwrites them. */
  byte[] buffer() {
    return buffer;
  }

  /** Bytes of the revision key and the message. */
  int length() {
    return length;
  }

  /** The revision key; the next record overwrites it. */
  Bytes key() {
    return Bytes.wrap(buffer, 0, keyLength);
  }

  /** The message; the next record overwrites it. */
  Bytes message() {
    return Bytes.wrap(buffer, keyLength, length - keyLength);
  }

  private void encode(long main, int sub, boolean tombstone, KeyValue kv) {
    ensure(REVISION_BYTES + 1 + 6L * MOST_NUMBER_BYTES + kv.key().length() + kv.value().length());
    StoreKeys.putLong(buffer, 0, main);
    buffer[8] = '_';
    StoreKeys.putLong(buffer, 9, sub);
    int at = REVISION_BYTES;
    if (tombstone) {
      buffer[at++] = 't';
    }
    keyLength = at;
    at = field(at, 1, kv.key());
    at = field(at, 2, kv.createRevision());
    at = field(at, 3, kv.modRevision());
    at = field(at, 4, kv.version());
    at = field(at, 5, kv.value());
    length = field(at, 6, kv.lease());
  }

  private void ensure(long size) {
    if (buffer.length < size) {
      buffer = new byte[Math.toIntExact(Math.max(size, 2L * buffer.length))];
    }
  }

  /** Protobuf: absent fields are omitted. */
  private int field(int at, int number, long value) {
    if (value == 0) {
      return at;
    }
    buffer[at] = (byte) (number << 3);
    return varint(at + 1, value);
  }

  private int field(int at, int number, Bytes value) {
    if (value.isEmpty()) {
      return at;
    }
    buffer[at] = (byte) (number << 3 | 2);
    return value.copyTo(buffer, varint(at + 1, value.length()));
  }

  private int varint(int at, long value) {
    long rest = value;
    int to = at;
    while ((rest & ~0x7fL) != 0) {
      buffer[to++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    buffer[to++] = (byte) rest;
    return to;
  }

  private static long size(long value) {
    return value == 0 ? 0 : 1L + varintBytes(value);
  }

  private static long size(Bytes value) {
    return value.isEmpty() ? 0 : 1L + varintBytes(value.length()) + value.length();
  }

  private static int varintBytes(long value) {
    return (64 - Long.numberOfLeadingZeros(value | 1) + 6) / 7;
  }
}
