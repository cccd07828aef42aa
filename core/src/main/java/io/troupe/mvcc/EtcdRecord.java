package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * A change as a record of etcd's key bucket (MT7): a revision key and the protobuf message {@code
 * mvccpb.KeyValue}. A large record is not copied: its message consists of parts that share the
 * arrays of its user key and value. Immutable.
 */
final class EtcdRecord {
  private static final int REVISION_BYTES = 17;
  private static final int MOST_NUMBER_BYTES = 11;

  private static final int MOST_FRAME_BYTES = REVISION_BYTES + 1 + 6 * MOST_NUMBER_BYTES;

  /** Records up to this size are copied into one array, which is faster. */
  private static final int SMALL = 4096;

  /** Size of an array that holds any small record. */
  static final int SMALL_BYTES = SMALL + MOST_FRAME_BYTES;

  private final Bytes key;
  private final List<Bytes> message;

  private EtcdRecord(Bytes key, List<Bytes> message) {
    this.key = key;
    this.message = message;
  }

  /** Encodes a put. */
  static EtcdRecord put(KeyValue kv, int sub) {
    return encode(kv.modRevision(), sub, false, kv);
  }

  /** Encodes a deletion: its message contains only the user key. */
  static EtcdRecord tombstone(long main, int sub, Bytes userKey) {
    return encode(main, sub, true, new KeyValue(userKey, 0, 0, 0, Bytes.EMPTY, 0));
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

  /** The revision key. */
  Bytes key() {
    return key;
  }

  /** The message: its parts, one after the other. */
  List<Bytes> message() {
    return message;
  }

  /** True if a record of this key and value fits into {@value #SMALL_BYTES} bytes. */
  static boolean isSmall(KeyValue kv) {
    return kv.key().length() + kv.value().length() <= SMALL;
  }

  /**
   * Writes the revision key and the message of a small put.
   *
   * @param target at least {@link #SMALL_BYTES} long
   * @return number of bytes written, from the beginning of the array
   */
  static int writeSmall(KeyValue kv, int sub, byte[] target) {
    Encoder out = new Encoder(target, true);
    out.revision(kv.modRevision(), sub, false);
    out.fields(kv);
    return out.at;
  }

  /** Bytes of the revision key and the message. */
  int length() {
    int length = key.length();
    for (Bytes part : message) {
      length += part.length();
    }
    return length;
  }

  /** Adds the revision key and the message to a checksum. */
  void addTo(CRC32C checksum) {
    add(checksum, key);
    for (Bytes part : message) {
      add(checksum, part);
    }
  }

  private static void add(CRC32C checksum, Bytes bytes) {
    checksum.update(bytes.backingArray(), bytes.backingOffset(), bytes.length());
  }

  private static EtcdRecord encode(long main, int sub, boolean tombstone, KeyValue kv) {
    boolean small = isSmall(kv);
    int bytes = small ? Math.toIntExact(keyBytes(tombstone) + messageBytes(kv)) : MOST_FRAME_BYTES;
    Encoder out = new Encoder(new byte[bytes], small);
    out.revision(main, sub, tombstone);
    Bytes key = Bytes.wrap(out.array, 0, out.at);
    out.done = out.at;
    out.fields(kv);
    return new EtcdRecord(key, out.parts());
  }

  /** Protobuf: absent fields are omitted. */
  private static final class Encoder {
    final byte[] array;
    final boolean copies;
    int at;

    /** Position after the last part. */
    int done;

    private final List<Bytes> parts;

    Encoder(byte[] array, boolean copies) {
      this.array = array;
      this.copies = copies;
      this.parts = new ArrayList<>(copies ? 0 : 5);
    }

    void revision(long main, int sub, boolean tombstone) {
      StoreKeys.putLong(array, 0, main);
      array[8] = '_';
      StoreKeys.putLong(array, 9, sub);
      at = REVISION_BYTES;
      if (tombstone) {
        array[at++] = 't';
      }
    }

    void fields(KeyValue kv) {
      field(1, kv.key());
      field(2, kv.createRevision());
      field(3, kv.modRevision());
      field(4, kv.version());
      field(5, kv.value());
      field(6, kv.lease());
    }

    void field(int number, long value) {
      if (value != 0) {
        array[at++] = (byte) (number << 3);
        varint(value);
      }
    }

    void field(int number, Bytes value) {
      if (value.isEmpty()) {
        return;
      }
      array[at++] = (byte) (number << 3 | 2);
      varint(value.length());
      if (copies) {
        at = value.copyTo(array, at);
      } else {
        endPart();
        parts.add(value);
      }
    }

    private void varint(long value) {
      long rest = value;
      while ((rest & ~0x7fL) != 0) {
        array[at++] = (byte) (rest | 0x80);
        rest >>>= 7;
      }
      array[at++] = (byte) rest;
    }

    private void endPart() {
      if (at > done) {
        parts.add(Bytes.wrap(array, done, at - done));
        done = at;
      }
    }

    List<Bytes> parts() {
      endPart();
      return parts;
    }
  }

  private static long size(long value) {
    return value == 0 ? 0 : 1L + varintBytes(value);
  }

  private static long size(Bytes value) {
    return valueBytes(value.length());
  }

  /** Size of the field of a value, in a message. */
  static long valueBytes(int length) {
    return length == 0 ? 0 : 1L + varintBytes(length) + length;
  }

  private static int varintBytes(long value) {
    return (64 - Long.numberOfLeadingZeros(value | 1) + 6) / 7;
  }
}
