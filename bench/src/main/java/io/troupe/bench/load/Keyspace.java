package io.troupe.bench.load;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.IntFunction;

/**
 * The keys of a run and the requests about them, encoded once. The returned arrays are shared and
 * must not be changed.
 */
public final class Keyspace {
  private static final String PREFIX = "bench/";

  private final int size;
  private final ByteString value;
  private final ByteString[] keys;

  /**
   * @param size keys, 1 or more
   * @param valueBytes size of the value that every put writes
   */
  public Keyspace(int size, int valueBytes, long seed) {
    this.size = size;
    byte[] bytes = new byte[valueBytes];
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < valueBytes; i++) {
      bytes[i] = (byte) random.nextInt();
    }
    this.value = UnsafeByteOperations.unsafeWrap(bytes);
    this.keys = new ByteString[size];
    for (int i = 0; i < size; i++) {
      keys[i] = name(i);
    }
  }

  /** Keys, 1 or more. */
  public int size() {
    return size;
  }

  /** The value that puts write. */
  public ByteString value() {
    return value;
  }

  /** Key {@code index}, 0 to {@link #size()} - 1: keys sort like their numbers. */
  public ByteString key(int index) {
    return keys[index];
  }

  /** The name of key {@code index}; also for the first index after the last key. */
  private static ByteString name(int index) {
    return ByteString.copyFromUtf8(PREFIX + String.format(Locale.ROOT, "%08d", index));
  }

  /** The number of a key. */
  static int index(ByteString key) {
    return Integer.parseInt(key.substring(PREFIX.length()).toStringUtf8());
  }

  /** A put of each key. */
  byte[][] puts() {
    return encode(
        i -> PutRequest.newBuilder().setKey(key(i)).setValue(value).build().toByteArray());
  }

  /** A read of each key. */
  byte[][] reads(boolean serializable) {
    return encode(
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
  byte[][] ranges(int span) {
    return encode(
        i -> {
          int from = Math.max(0, Math.min(i, size - span));
          return RangeRequest.newBuilder()
              .setKey(name(from))
              .setRangeEnd(name(from + span))
              .build()
              .toByteArray();
        });
  }

  /** A read of all keys, optionally without their values. */
  RangeRequest all(boolean keysOnly) {
    return RangeRequest.newBuilder()
        .setKey(key(0))
        .setRangeEnd(name(size))
        .setKeysOnly(keysOnly)
        .build();
  }

  private byte[][] encode(IntFunction<byte[]> request) {
    byte[][] requests = new byte[size][];
    for (int i = 0; i < size; i++) {
      requests[i] = request.apply(i);
    }
    return requests;
  }
}
