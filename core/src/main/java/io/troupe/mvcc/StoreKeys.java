package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Keys of the store's rows, schemas 3 to 6 and 11 to 14 (docs/formats/store-keys.md).
 *
 * <p>A row of {@link OrderedStore.Space#KEY} sorts by user key first and newest version first
 * within it: escaped user key (00 becomes 00 FF), terminator 00 00, inverted main revision (8
 * bytes), inverted sub revision (4 bytes), kind (1 byte). The kind is part of the key so that
 * counting and skipping never read a value.
 */
final class StoreKeys {
  /** Rows of keys, revisions, leases and members. */
  static final int SCHEMA = 3;

  /** The same with rows of users and roles. */
  static final int SCHEMA_WITH_AUTH = 4;

  /** Any other while an entry is only partly written. */
  static final int SCHEMA_PARTIAL = 5;

  /** Schema 3 or 4 with rows of the versions of the cluster. */
  static final int SCHEMA_WITH_VERSIONS = 6;

  /** Only in {@link OrderedStore.Space#REV}: a put that creates its key. */
  static final byte CREATION = 2;

  static final byte PUT = 1;
  static final byte TOMBSTONE = 0;

  static final Bytes META_SCHEMA = ascii("schema");
  static final Bytes META_APPLIED = ascii("applied");
  static final Bytes META_COMPACTED = ascii("compacted");
  static final Bytes META_PARTIAL = ascii("partial");
  static final Bytes META_COMPACTION_FINISHED = ascii("compaction-finished");
  static final Bytes META_MEMBERSHIP = ascii("membership");

  /** Key of the current revision in {@link OrderedStore.Space#LATEST}; no user key is empty. */
  static final Bytes LATEST_REVISION = Bytes.EMPTY;

  private static final int TERMINATOR = 2;
  private static final int SUFFIX = 8 + 4 + 1;
  private static final byte GRANT = 1;
  private static final byte ATTACHMENT = 2;

  private StoreKeys() {}

  // ---- KEY ----

  /** The row of one version. */
  static Bytes row(Bytes userKey, long main, int sub, boolean tombstone) {
    byte[] out = escaped(userKey, SUFFIX);
    int at = out.length - SUFFIX;
    putLong(out, at, ~main);
    putInt(out, at + 8, ~sub);
    out[at + 12] = tombstone ? TOMBSTONE : PUT;
    return Bytes.wrap(out);
  }

  /** The size of a row of {@code userKey}. */
  static int rowBytes(Bytes userKey) {
    return userKey.length() + zeros(userKey) + TERMINATOR + SUFFIX;
  }

  private static int zeros(Bytes userKey) {
    byte[] in = userKey.backingArray();
    int from = userKey.backingOffset();
    int zeros = 0;
    for (int i = from; i < from + userKey.length(); i++) {
      zeros += in[i] == 0 ? 1 : 0;
    }
    return zeros;
  }

  /**
   * Writes {@link #row} of a put.
   *
   * @param out at least {@link #rowBytes} long
   * @return size of the row, which is at the beginning of the array
   */
  static int writeRow(byte[] out, Bytes userKey, long main, int sub) {
    byte[] in = userKey.backingArray();
    int from = userKey.backingOffset();
    int at = 0;
    for (int i = from; i < from + userKey.length(); i++) {
      out[at++] = in[i];
      if (in[i] == 0) {
        out[at++] = (byte) 0xff;
      }
    }
    out[at] = 0;
    out[at + 1] = 0;
    putLong(out, at + TERMINATOR, ~main);
    putInt(out, at + TERMINATOR + 8, ~sub);
    out[at + TERMINATOR + 12] = PUT;
    return at + TERMINATOR + SUFFIX;
  }

  /**
   * Sorts before every version of the key at main revision {@code main} or older, and after newer
   * ones.
   */
  static Bytes newestAt(Bytes userKey, long main) {
    byte[] out = escaped(userKey, 8);
    putLong(out, out.length - 8, ~main);
    return Bytes.wrap(out);
  }

  /** {@link #newestAt(Bytes, long)} of the key that {@code row} is a version of. */
  static Bytes newestAtOfRow(Bytes row, long main) {
    int prefix = row.length() - SUFFIX;
    byte[] out = new byte[prefix + 8];
    System.arraycopy(row.backingArray(), row.backingOffset(), out, 0, prefix);
    putLong(out, prefix, ~main);
    return Bytes.wrap(out);
  }

  /** Sorts before every version of this key and of any greater one. */
  static Bytes firstOf(Bytes userKey) {
    return Bytes.wrap(escaped(userKey, 0));
  }

  /** Sorts after every version of this key and before any greater one. */
  static Bytes after(Bytes userKey) {
    byte[] out = escaped(userKey, 0);
    out[out.length - 1] = 1;
    return Bytes.wrap(out);
  }

  /** {@link #after(Bytes)} of the key that {@code row} is a version of. */
  static Bytes afterRow(Bytes row) {
    int prefix = row.length() - SUFFIX;
    byte[] out = new byte[prefix];
    System.arraycopy(row.backingArray(), row.backingOffset(), out, 0, prefix);
    out[prefix - 1] = 1;
    return Bytes.wrap(out);
  }

  /**
   * The smallest user key that can have versions at or after a position in KEY.
   *
   * @param position a row, one of the positions above, or the beginning of one
   */
  static Bytes firstKeyFrom(Bytes position) {
    byte[] out = new byte[position.length() + 1];
    int to = 0;
    for (int i = 0; i < position.length(); i++) {
      byte next = position.at(i);
      out[to++] = next;
      if (next == 0 && i + 1 < position.length()) {
        byte mark = position.at(++i);
        if (mark != (byte) 0xff) {
          // The terminator: without it, or with the 00 that follows the key itself in that order.
          return Bytes.wrap(out, 0, mark == 0 ? to - 1 : to);
        }
      }
    }
    return Bytes.wrap(out, 0, to);
  }

  /** Exclusive upper bound of the rows of a range, or null if it is open ended. */
  static @Nullable Bytes upper(KeyRange range) {
    if (range.isSingle()) {
      return after(range.key());
    }
    return range.isOpenEnded() ? null : firstOf(range.rangeEnd());
  }

  static long main(Bytes row) {
    return ~getLong(row, row.length() - SUFFIX);
  }

  static int sub(Bytes row) {
    return ~getInt(row, row.length() - SUFFIX + 8);
  }

  static boolean isTombstone(Bytes row) {
    return row.at(row.length() - 1) == TOMBSTONE;
  }

  /** True if both rows are versions of one key. */
  static boolean sameKey(Bytes row, Bytes other) {
    int prefix = row.length() - SUFFIX;
    return prefix == other.length() - SUFFIX
        && Arrays.equals(
            row.backingArray(),
            row.backingOffset(),
            row.backingOffset() + prefix,
            other.backingArray(),
            other.backingOffset(),
            other.backingOffset() + prefix);
  }

  /** The user key of a row; shares the row's array if nothing was escaped. */
  static Bytes userKey(Bytes row) {
    int end = row.length() - SUFFIX - TERMINATOR;
    if (end <= 0) {
      throw new StoreException("row of " + row.length() + " bytes in the key space");
    }
    byte[] array = row.backingArray();
    int offset = row.backingOffset();
    int zeros = 0;
    for (int i = offset; i < offset + end; i++) {
      if (array[i] == 0) {
        zeros++;
        i++;
      }
    }
    if (zeros == 0) {
      return row.slice(0, end);
    }
    byte[] out = new byte[end - zeros];
    int to = 0;
    for (int i = offset; i < offset + end; i++) {
      out[to++] = array[i];
      if (array[i] == 0) {
        i++;
      }
    }
    return Bytes.wrap(out);
  }

  // ---- REV ----

  /** Position of a change: main and sub revision, big endian. */
  static Bytes revision(long main, int sub) {
    byte[] out = new byte[12];
    putLong(out, 0, main);
    putInt(out, 8, sub);
    return Bytes.wrap(out);
  }

  static long revisionMain(Bytes revision) {
    return getLong(revision, 0);
  }

  static int revisionSub(Bytes revision) {
    return getInt(revision, 8);
  }

  // ---- LEASE ----

  /** Key of the grant of a lease. Sorts by id as an unsigned number. */
  static Bytes grant(long id) {
    return leaseKey(GRANT, id, Bytes.EMPTY);
  }

  /** Key of the row that attaches a key to a lease. */
  static Bytes attachment(long id, Bytes userKey) {
    return leaseKey(ATTACHMENT, id, userKey);
  }

  /** First key of the grants, or (true) the first key after them. */
  static Bytes grants(boolean after) {
    return Bytes.of(after ? GRANT + 1 : GRANT);
  }

  /** First key after the attachments of a lease. */
  static @Nullable Bytes afterAttachments(long id) {
    return id == -1 ? Bytes.of(ATTACHMENT + 1) : leaseKey(ATTACHMENT, id + 1, Bytes.EMPTY);
  }

  static long leaseId(Bytes leaseRow) {
    return getLong(leaseRow, 1);
  }

  static Bytes attachedKey(Bytes attachment) {
    return attachment.slice(9);
  }

  private static Bytes leaseKey(byte kind, long id, Bytes tail) {
    byte[] out = new byte[9 + tail.length()];
    out[0] = kind;
    putLong(out, 1, id);
    tail.copyTo(out, 9);
    return Bytes.wrap(out);
  }

  // ---- bytes ----

  /** Escaped key and terminator, followed by {@code spare} free bytes. */
  private static byte[] escaped(Bytes userKey, int spare) {
    byte[] in = userKey.backingArray();
    int from = userKey.backingOffset();
    int length = userKey.length();
    int zeros = zeros(userKey);
    byte[] out = new byte[length + zeros + TERMINATOR + spare];
    if (zeros == 0) {
      System.arraycopy(in, from, out, 0, length);
      return out;
    }
    int to = 0;
    for (int i = from; i < from + length; i++) {
      out[to++] = in[i];
      if (in[i] == 0) {
        out[to++] = (byte) 0xff;
      }
    }
    return out;
  }

  static void putLong(byte[] out, int at, long value) {
    putInt(out, at, (int) (value >>> 32));
    putInt(out, at + 4, (int) value);
  }

  static void putInt(byte[] out, int at, int value) {
    out[at] = (byte) (value >>> 24);
    out[at + 1] = (byte) (value >>> 16);
    out[at + 2] = (byte) (value >>> 8);
    out[at + 3] = (byte) value;
  }

  static long getLong(Bytes in, int at) {
    return ((long) getInt(in, at) << 32) | (getInt(in, at + 4) & 0xffffffffL);
  }

  static int getInt(Bytes in, int at) {
    return (in.at(at) & 0xff) << 24
        | (in.at(at + 1) & 0xff) << 16
        | (in.at(at + 2) & 0xff) << 8
        | (in.at(at + 3) & 0xff);
  }

  private static Bytes ascii(String text) {
    return Bytes.wrap(text.getBytes(StandardCharsets.US_ASCII));
  }
}
