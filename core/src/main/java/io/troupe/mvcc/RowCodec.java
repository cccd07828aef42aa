package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import io.troupe.model.Lease;

/**
 * Values of the store's rows, schema 3 (docs/formats/store-keys.md). Numbers are unsigned LEB128
 * unless stated otherwise.
 */
final class RowCodec {
  /** Maximum number of bytes before the user's value in a live row or a newest row. */
  static final int HEADER_BYTES = 40;

  private RowCodec() {}

  /** A live version: create revision, version, lease, then the user's value to the end. */
  static Bytes record(long createRevision, long version, long lease, Bytes value) {
    int header = size(createRevision) + size(version) + size(lease);
    byte[] out = new byte[header + value.length()];
    int at = write(out, 0, createRevision);
    at = write(out, at, version);
    at = write(out, at, lease);
    value.copyTo(out, at);
    return Bytes.wrap(out);
  }

  /** The record of a live row. Key and value share the row's arrays. */
  static KeyValue keyValue(Bytes row, Bytes value) {
    Reader in = new Reader(value);
    long create = in.number();
    long version = in.number();
    long lease = in.number();
    return new KeyValue(
        StoreKeys.userKey(row), create, StoreKeys.main(row), version, in.rest(), lease);
  }

  /** The record of a live row as keys-only reads return it: neither value nor lease (G6). */
  static KeyValue keyOnly(Bytes row, Bytes value) {
    Reader in = new Reader(value);
    long create = in.number();
    long version = in.number();
    return new KeyValue(
        StoreKeys.userKey(row), create, StoreKeys.main(row), version, Bytes.EMPTY, 0);
  }

  /** The lease of a live row's value. */
  static long leaseOf(Bytes value) {
    Reader in = new Reader(value);
    in.number();
    in.number();
    return in.number();
  }

  /** A newest record: mod revision, then as {@link #record}. */
  static Bytes latest(KeyValue kv) {
    Bytes value = kv.value();
    int header =
        size(kv.modRevision()) + size(kv.createRevision()) + size(kv.version()) + size(kv.lease());
    byte[] out = new byte[header + value.length()];
    int at = write(out, 0, kv.modRevision());
    at = write(out, at, kv.createRevision());
    at = write(out, at, kv.version());
    at = write(out, at, kv.lease());
    value.copyTo(out, at);
    return Bytes.wrap(out);
  }

  /** The record of a newest row. Key and value share the row's arrays. */
  static KeyValue latest(Bytes key, Bytes row) {
    Reader in = new Reader(row);
    long mod = in.number();
    long create = in.number();
    long version = in.number();
    long lease = in.number();
    return new KeyValue(key, create, mod, version, in.rest(), lease);
  }

  /** The record of a newest row as keys-only reads return it: neither value nor lease (G6). */
  static KeyValue latestKeyOnly(Bytes key, Bytes row) {
    Reader in = new Reader(row);
    long mod = in.number();
    long create = in.number();
    return new KeyValue(key, create, mod, in.number(), Bytes.EMPTY, 0);
  }

  /** Value of a revision row of a deletion: kind, then the user key. */
  static Bytes deletion(Bytes userKey) {
    return change(StoreKeys.TOMBSTONE, userKey);
  }

  /**
   * Value of a revision row of a put: kind, then the user key.
   *
   * @param version of the key; the first one creates it
   */
  static Bytes put(long version, Bytes userKey) {
    return change(version == 1 ? StoreKeys.CREATION : StoreKeys.PUT, userKey);
  }

  private static Bytes change(byte kind, Bytes userKey) {
    byte[] out = new byte[1 + userKey.length()];
    out[0] = kind;
    userKey.copyTo(out, 1);
    return Bytes.wrap(out);
  }

  /** True for a put that creates its key, except in revisions that do not show that. */
  static boolean isCreation(Bytes change) {
    return change.at(0) == StoreKeys.CREATION;
  }

  /** The version in the value of a live row. */
  static long versionOf(Bytes value) {
    Reader in = new Reader(value);
    in.number();
    return in.number();
  }

  /** A number alone. */
  static Bytes number(long number) {
    byte[] out = new byte[size(number)];
    write(out, 0, number);
    return Bytes.wrap(out);
  }

  /** Reads what {@link #number(long)} wrote. */
  static long number(Bytes value) {
    return new Reader(value).number();
  }

  static boolean isTombstoneChange(Bytes change) {
    return change.at(0) == StoreKeys.TOMBSTONE;
  }

  static Bytes changedKey(Bytes change) {
    return change.slice(1);
  }

  /** Value of a grant: granted time to live and checkpoint, in seconds. */
  static Bytes grant(Lease lease) {
    byte[] out = new byte[size(lease.ttlSeconds()) + size(lease.checkpointSeconds())];
    write(out, write(out, 0, lease.ttlSeconds()), lease.checkpointSeconds());
    return Bytes.wrap(out);
  }

  static Lease lease(long id, Bytes grant) {
    Reader in = new Reader(grant);
    return new Lease(id, in.number(), in.number());
  }

  /** Numbers of 8 bytes each, big endian. */
  static Bytes longs(long... numbers) {
    byte[] out = new byte[8 * numbers.length];
    for (int i = 0; i < numbers.length; i++) {
      StoreKeys.putLong(out, 8 * i, numbers[i]);
    }
    return Bytes.wrap(out);
  }

  private static int size(long number) {
    int bits = 64 - Long.numberOfLeadingZeros(number | 1);
    return (bits + 6) / 7;
  }

  private static int write(byte[] out, int at, long number) {
    long rest = number;
    int to = at;
    while ((rest & ~0x7fL) != 0) {
      out[to++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    out[to++] = (byte) rest;
    return to;
  }

  private static final class Reader {
    private final Bytes in;
    private int at;

    Reader(Bytes in) {
      this.in = in;
    }

    long number() {
      long number = 0;
      for (int shift = 0; shift < 64 && at < in.length(); shift += 7) {
        byte b = in.at(at++);
        number |= (long) (b & 0x7f) << shift;
        if (b >= 0) {
          return number;
        }
      }
      throw new StoreException("damaged number in a stored record of " + in.length() + " bytes");
    }

    Bytes rest() {
      return in.slice(at);
    }
  }
}
