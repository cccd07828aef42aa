package io.troupe.model;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * An immutable byte string with unsigned lexicographic order, the order of keys everywhere (R10). A
 * slice shares the array of its parent. The array must not be written to after it was passed to
 * this class.
 */
public final class Bytes implements Comparable<Bytes> {
  /** The empty byte string. */
  public static final Bytes EMPTY = new Bytes(new byte[0], 0, 0);

  private final byte[] array;
  private final int offset;
  private final int length;
  private int hash;

  private Bytes(byte[] array, int offset, int length) {
    this.array = array;
    this.offset = offset;
    this.length = length;
  }

  /** Takes ownership of {@code array}: the caller must not write to it afterwards. */
  public static Bytes wrap(byte[] array) {
    return array.length == 0 ? EMPTY : new Bytes(array, 0, array.length);
  }

  /**
   * Takes ownership of the stated part of {@code array}: the caller must not write to it
   * afterwards.
   */
  public static Bytes wrap(byte[] array, int offset, int length) {
    if (offset < 0 || length < 0 || offset > array.length - length) {
      throw new IndexOutOfBoundsException(offset + "+" + length + " in " + array.length);
    }
    return length == 0 ? EMPTY : new Bytes(array, offset, length);
  }

  /** Returns a private copy of {@code array}. */
  public static Bytes copyOf(byte[] array) {
    return wrap(array.clone());
  }

  /** Returns the UTF-8 encoding of {@code text}. */
  public static Bytes utf8(String text) {
    return wrap(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns the bytes given as ints 0..255. */
  public static Bytes of(int... unsigned) {
    byte[] out = new byte[unsigned.length];
    for (int i = 0; i < out.length; i++) {
      out[i] = (byte) unsigned[i];
    }
    return wrap(out);
  }

  /** Number of bytes, 0 or more. */
  public int length() {
    return length;
  }

  /** True if there are no bytes. */
  public boolean isEmpty() {
    return length == 0;
  }

  /** Returns the byte at {@code index} (0 .. length()-1), signed as in Java. */
  public byte at(int index) {
    if (index < 0 || index >= length) {
      throw new IndexOutOfBoundsException(index + " in " + length);
    }
    return array[offset + index];
  }

  /** Returns the bytes from {@code from} to the end; shares the array. */
  public Bytes slice(int from) {
    return slice(from, length);
  }

  /**
   * Returns the bytes from {@code from} (inclusive) to {@code to} (exclusive); shares the array.
   */
  public Bytes slice(int from, int to) {
    if (from < 0 || to > length || from > to) {
      throw new IndexOutOfBoundsException(from + ".." + to + " in " + length);
    }
    return wrap(array, offset + from, to - from);
  }

  /** Returns a new byte string: these bytes followed by {@code tail}. */
  public Bytes concat(Bytes tail) {
    byte[] out = new byte[length + tail.length];
    tail.copyTo(out, copyTo(out, 0));
    return wrap(out);
  }

  /**
   * Returns the smallest byte string that is greater than this one: these bytes and a zero byte.
   */
  public Bytes successor() {
    byte[] out = new byte[length + 1];
    copyTo(out, 0);
    return wrap(out);
  }

  /** True if these bytes start with {@code prefix}. */
  public boolean startsWith(Bytes prefix) {
    return length >= prefix.length
        && Arrays.equals(
            array,
            offset,
            offset + prefix.length,
            prefix.array,
            prefix.offset,
            prefix.offset + prefix.length);
  }

  /** Returns a new array with a copy of the bytes. */
  public byte[] toArray() {
    return Arrays.copyOfRange(array, offset, offset + length);
  }

  /**
   * Returns the bytes as an array, without a copy if possible. The caller must not write to the
   * array.
   */
  public byte[] toArrayUnsafe() {
    return offset == 0 && length == array.length ? array : toArray();
  }

  /**
   * The backing array, for codecs that take (array, offset, length). The caller must not write to
   * it.
   */
  public byte[] backingArray() {
    return array;
  }

  /** Offset of the first of these bytes in {@link #backingArray()}. */
  public int backingOffset() {
    return offset;
  }

  /** Copies all bytes to {@code target} at {@code at}; returns the position after them. */
  public int copyTo(byte[] target, int at) {
    System.arraycopy(array, offset, target, at, length);
    return at + length;
  }

  /** Decodes the bytes as UTF-8; malformed input is replaced. */
  public String utf8() {
    return new String(array, offset, length, StandardCharsets.UTF_8);
  }

  @Override
  public int compareTo(Bytes other) {
    return Arrays.compareUnsigned(
        array, offset, offset + length, other.array, other.offset, other.offset + other.length);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Bytes b
        && length == b.length
        && Arrays.equals(array, offset, offset + length, b.array, b.offset, b.offset + b.length);
  }

  @Override
  public int hashCode() {
    int h = hash;
    if (h == 0) {
      h = 1;
      for (int i = offset; i < offset + length; i++) {
        h = 31 * h + array[i];
      }
      hash = h;
    }
    return h;
  }

  /**
   * Shows printable ASCII as text and anything else as hex, cut after 64 bytes. For logs and tests.
   */
  @Override
  public String toString() {
    for (int i = 0; i < Math.min(length, 64); i++) {
      byte b = array[offset + i];
      if (b < 0x20 || b > 0x7e) {
        return "0x" + HexFormat.of().formatHex(array, offset, offset + Math.min(length, 64));
      }
    }
    String text = new String(array, offset, Math.min(length, 64), StandardCharsets.US_ASCII);
    return length > 64 ? text + "...(" + length + ")" : text;
  }
}
