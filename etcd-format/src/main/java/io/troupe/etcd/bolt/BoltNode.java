package io.troupe.etcd.bolt;

import io.troupe.model.Bytes;
import java.nio.ByteBuffer;

/** A branch or leaf node in memory. Checks that its elements are inside. */
final class BoltNode {
  private final String name;
  private final ByteBuffer in;
  private final boolean leaf;
  private final int elements;

  private BoltNode(String name, ByteBuffer in, boolean leaf, int elements) {
    this.name = name;
    this.in = in;
    this.leaf = leaf;
    this.elements = elements;
  }

  /**
   * Reads the header.
   *
   * @param name for messages
   * @param in little endian, with an array
   */
  static BoltNode of(String name, ByteBuffer in) {
    if (in.limit() < BoltPages.HEADER_BYTES) {
      throw new DamagedDatabaseException(name + " is incomplete");
    }
    int kind = in.getShort(8);
    int elements = Short.toUnsignedInt(in.getShort(10));
    if (kind != BoltPages.LEAF && kind != BoltPages.BRANCH) {
      throw new DamagedDatabaseException(name + " is neither a branch nor a leaf");
    }
    if (BoltPages.HEADER_BYTES + (long) elements * BoltPages.ELEMENT_BYTES > in.limit()) {
      throw new DamagedDatabaseException(name + " has " + elements + " elements");
    }
    return new BoltNode(name, in, kind == BoltPages.LEAF, elements);
  }

  boolean isLeaf() {
    return leaf;
  }

  int elements() {
    return elements;
  }

  private int at(int element) {
    return BoltPages.HEADER_BYTES + element * BoltPages.ELEMENT_BYTES;
  }

  boolean isBucket(int element) {
    return (in.getInt(at(element)) & BoltPages.BUCKET_ELEMENT) != 0;
  }

  /** Page of a branch's child. */
  long child(int element) {
    return in.getLong(at(element) + 8);
  }

  Bytes key(int element) {
    int at = at(element);
    return leaf
        ? bytes(element, Integer.toUnsignedLong(in.getInt(at + 4)), in.getInt(at + 8))
        : bytes(element, Integer.toUnsignedLong(in.getInt(at)), in.getInt(at + 4));
  }

  Bytes value(int element) {
    int at = at(element);
    long keyBytes = Integer.toUnsignedLong(in.getInt(at + 8));
    return bytes(element, Integer.toUnsignedLong(in.getInt(at + 4)) + keyBytes, in.getInt(at + 12));
  }

  private Bytes bytes(int element, long position, int length) {
    long from = at(element) + position;
    if (length < 0 || from + length > in.limit()) {
      throw new DamagedDatabaseException(name + ": element " + element + " is outside");
    }
    return Bytes.wrap(in.array(), in.arrayOffset() + (int) from, length);
  }
}
