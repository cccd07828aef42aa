package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import io.troupe.model.Lease;
import org.jspecify.annotations.Nullable;

/**
 * Values of the store's rows (docs/formats/store-keys.md). Numbers are unsigned LEB128 unless
 * stated otherwise.
 */
final class RowCodec {
  /** Maximum number of bytes before the user's value in a live row or a newest row. */
  static final int HEADER_BYTES = 48;

  /** Maximum number of bytes of the place in a newest row. */
  static final int PLACE_BYTES = 16;

  /** First byte of a newest row with a place; older programs begin with the mod revision. */
  private static final byte WITH_PLACE = 0;

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

  /** A newest record: mark, main and sub revision, then as {@link #record}. */
  static Bytes latest(KeyValue kv, int sub) {
    Bytes value = kv.value();
    int header =
        1
            + size(kv.modRevision())
            + size(sub)
            + size(kv.createRevision())
            + size(kv.version())
            + size(kv.lease());
    byte[] out = new byte[header + value.length()];
    int at = write(out, 1, kv.modRevision());
    at = write(out, at, sub);
    at = write(out, at, kv.createRevision());
    at = write(out, at, kv.version());
    at = write(out, at, kv.lease());
    value.copyTo(out, at);
    return Bytes.wrap(out);
  }

  /**
   * Where the version of a newest row is in the history.
   *
   * @param bytes of the row before the part that is as {@link #record}
   */
  record Place(long main, int sub, int bytes) {}

  /**
   * Reads the beginning of a newest row.
   *
   * @return null if an older program wrote it: {@link OrderedStore.Space#KEY} has the version too
   */
  static @Nullable Place place(Bytes row) {
    if (row.isEmpty() || row.at(0) != WITH_PLACE) {
      return null;
    }
    Reader in = new Reader(row);
    in.number();
    long main = in.number();
    return new Place(main, (int) in.number(), in.at);
  }

  /** The value of the row of KEY that a newest row with a place replaces. */
  static Bytes versionOfLatest(Bytes row) {
    Place place = place(row);
    if (place == null) {
      throw new StoreException("a newest record has no place in the history");
    }
    return row.slice(place.bytes());
  }

  /** The record of a newest row and its place. Key and value share the row's arrays. */
  static NewestRecord latest(Bytes key, Bytes row) {
    Reader in = new Reader(row);
    long mod = in.number();
    int sub = NewestRecord.IN_HISTORY;
    if (mod == WITH_PLACE) {
      mod = in.number();
      sub = (int) in.number();
    }
    long create = in.number();
    long version = in.number();
    long lease = in.number();
    return new NewestRecord(new KeyValue(key, create, mod, version, in.rest(), lease), sub);
  }

  /** The record of a newest row as keys-only reads return it: neither value nor lease (G6). */
  static KeyValue latestKeyOnly(Bytes key, Bytes row) {
    Reader in = new Reader(row);
    long mod = in.number();
    if (mod == WITH_PLACE) {
      mod = in.number();
      in.number();
    }
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
