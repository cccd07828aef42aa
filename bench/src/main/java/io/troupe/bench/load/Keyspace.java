package io.troupe.bench.load;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import java.util.function.IntFunction;

/**
 * The keys of a run and the requests about them. Requests are encoded once, unless they are too
 * many for the heap; the arrays are shared and must not be changed.
 */
public final class Keyspace {
  private static final String PREFIX = "bench/";
  private static final int DIGITS = 8;
  private static final long ENCODED_BYTES = 256 << 20;

  private final int size;
  private final Values values;

  /**
   * @param size keys, 1 to 99,999,999
   * @param valueBytes size of the values
   */
  public Keyspace(int size, int valueBytes, long seed) {
    this.size = size;
    this.values = new Values(valueBytes, seed);
  }

  /** The prefix of all keys. */
  static ByteString prefix() {
    return ByteString.copyFromUtf8(PREFIX);
  }

  /** Keys, 1 or more. */
  public int size() {
    return size;
  }

  /** The value that puts of a key write. */
  ByteString value(int index) {
    return values.value(index);
  }

  /** Bytes of each value. */
  int valueBytes() {
    return values.bytes();
  }

  /**
   * Key {@code index}: keys sort like their numbers. Also for the first index after the last key.
   */
  ByteString key(int index) {
    byte[] name = new byte[PREFIX.length() + DIGITS];
    int left = index;
    for (int i = name.length - 1; i >= PREFIX.length(); i--) {
      name[i] = (byte) ('0' + left % 10);
      left /= 10;
    }
    for (int i = 0; i < PREFIX.length(); i++) {
      name[i] = (byte) PREFIX.charAt(i);
    }
    return UnsafeByteOperations.unsafeWrap(name);
  }

  /** The number of a key. */
  static int index(ByteString key) {
    return Integer.parseInt(key.substring(PREFIX.length()).toStringUtf8());
  }

  /** A put of each key. */
  IntFunction<byte[]> puts() {
    return encode(
        values.bytes(),
        i -> PutRequest.newBuilder().setKey(key(i)).setValue(value(i)).build().toByteArray());
  }

  /** A read of each key. */
  IntFunction<byte[]> reads(boolean serializable) {
    return encode(
        0,
        i ->
            RangeRequest.newBuilder()
                .setKey(key(i))
                .setSerializable(serializable)
                .build()
                .toByteArray());
  }

  /**
   * A linearizable read of {@code span} keys from each key on; the last reads are shifted so that
   * all have the same size.
   */
  IntFunction<byte[]> ranges(int span) {
    return encode(
        0,
        i -> {
          int from = Math.max(0, Math.min(i, size - span));
          return RangeRequest.newBuilder()
              .setKey(key(from))
              .setRangeEnd(key(from + span))
              .build()
              .toByteArray();
        });
  }

  /** A read of all keys, optionally without their values. */
  RangeRequest all(boolean keysOnly) {
    return RangeRequest.newBuilder()
        .setKey(key(0))
        .setRangeEnd(key(size))
        .setKeysOnly(keysOnly)
        .build();
  }

  private IntFunction<byte[]> encode(int bytes, IntFunction<byte[]> request) {
    if ((long) size * (bytes + 100) > ENCODED_BYTES) {
      return request;
    }
    byte[][] requests = new byte[size][];
    for (int i = 0; i < size; i++) {
      requests[i] = request.apply(i);
    }
    return i -> requests[i];
  }
}
