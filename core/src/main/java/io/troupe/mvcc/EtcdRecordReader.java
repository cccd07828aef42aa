package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;

/** Reads the protobuf message {@code mvccpb.KeyValue}. */
final class EtcdRecordReader {
  private static final int KEY = 1;
  private static final int CREATE_REVISION = 2;
  private static final int MOD_REVISION = 3;
  private static final int VERSION = 4;
  private static final int VALUE = 5;
  private static final int LEASE = 6;
  private static final int FIELDS = 6;

  private static final int NUMBER = 0;
  private static final int BYTES = 2;

  private final Bytes in;
  private int at;

  EtcdRecordReader(Bytes in) {
    this.in = in;
  }

  /** Reads the message; its key and value share the array. */
  KeyValue read() {
    long[] numbers = new long[FIELDS + 1];
    Bytes key = Bytes.EMPTY;
    Bytes value = Bytes.EMPTY;
    while (at < in.length()) {
      long tag = number();
      int field = (int) (tag >>> 3);
      int kind = (int) (tag & 7);
      boolean text = field == KEY || field == VALUE;
      if (field < KEY || field > FIELDS || kind != (text ? BYTES : NUMBER)) {
        throw new IllegalArgumentException("unknown field " + tag + " in a key-value record");
      }
      if (field == KEY) {
        key = bytes();
      } else if (field == VALUE) {
        value = bytes();
      } else {
        numbers[field] = number();
      }
    }
    return new KeyValue(
        key,
        numbers[CREATE_REVISION],
        numbers[MOD_REVISION],
        numbers[VERSION],
        value,
        numbers[LEASE]);
  }

  private Bytes bytes() {
    long length = number();
    if (length < 0 || length > in.length() - at) {
      throw new IllegalArgumentException("a key-value record is incomplete");
    }
    at += (int) length;
    return in.slice(at - (int) length, at);
  }

  private long number() {
    long number = 0;
    for (int shift = 0; shift < 64 && at < in.length(); shift += 7) {
      byte b = in.at(at++);
      number |= (long) (b & 0x7f) << shift;
      if (b >= 0) {
        return number;
      }
    }
    throw new IllegalArgumentException("a number of a key-value record is incomplete");
  }
}
