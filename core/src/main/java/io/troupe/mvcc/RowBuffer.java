package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;

/**
 * Memory for the keys or values of a long walk, one after the other. A walk over millions of rows
 * would otherwise fill the young generation several times a second, and each collection stops the
 * member. Grows to the largest of them.
 */
final class RowBuffer {
  private byte[] array;

  /**
   * Creates a buffer.
   *
   * @param bytes first size, 1 or more
   */
  RowBuffer(int bytes) {
    this.array = new byte[bytes];
  }

  /**
   * Reads the key of the current record.
   *
   * @return a view of this buffer, valid until its next read: copy what must be kept
   */
  Bytes key(Cursor cursor) {
    int length = cursor.keyTo(array);
    if (length > array.length) {
      array = new byte[Math.max(length, 2 * array.length)];
      length = cursor.keyTo(array);
    }
    return Bytes.wrap(array, 0, length);
  }

  /** Reads the value of the current record, as {@link #key}. */
  Bytes value(Cursor cursor) {
    int length = cursor.valueTo(array);
    if (length > array.length) {
      array = new byte[Math.max(length, 2 * array.length)];
      length = cursor.valueTo(array);
    }
    return Bytes.wrap(array, 0, length);
  }
}
