package io.troupe.bench.load;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * The keys of {@code bench scale}. The name of key i is {@link #name}; names are spread over the
 * whole key space. Fills write keys by number, so not in the order of their names, unless they are
 * sorted. Used by one thread.
 */
final class ScaleKeys {
  /** Keys of a page. */
  static final int PAGE = 500;

  private static final String PREFIX = "scale/";
  private static final ByteString END = ByteString.copyFromUtf8("scale0");

  /** Odd: the multiplication maps different numbers to different names. */
  private static final int SPREAD = 0x9E3779B1;

  /** Inverse of {@link #SPREAD}: their product is 1. */
  private static final int GATHER = inverse(SPREAD);

  private final Values values;
  private final SplittableRandom random;
  private final boolean sorted;
  private int written;
  private int skipFrom = Integer.MAX_VALUE;
  private int skipped;

  /**
   * @param sorted each fill writes its keys in the order of their names, which spares a server that
   *     keeps them in this order most of its background work
   */
  ScaleKeys(int valueBytes, long seed, boolean sorted) {
    this.sorted = sorted;
    this.values = new Values(valueBytes, seed);
    this.random = new SplittableRandom(seed);
  }

  /** Keys that were written, 0 or more. */
  int written() {
    return written;
  }

  /** Keys up to {@code total} - 1 were written. */
  void written(int total) {
    written = total;
  }

  /**
   * {@code total} keys were written by an earlier fill.
   *
   * @param skip numbers behind them that are not used, because that fill may have used some
   */
  void adopt(int total, int skip) {
    written = total;
    skipFrom = total;
    skipped = skip;
  }

  /** The number of a key that was written, or of the next one. */
  private int number(int index) {
    return index < skipFrom ? index : index + skipped;
  }

  /** Name of a key. */
  static ByteString name(int key) {
    return at(Integer.toUnsignedLong(key * SPREAD));
  }

  /** Newton's iteration doubles the correct low bits: 3, 6, 12, 24, 48. */
  private static int inverse(int odd) {
    int inverse = odd;
    for (int i = 0; i < 4; i++) {
      inverse *= 2 - odd * inverse;
    }
    return inverse;
  }

  private static ByteString at(long place) {
    String name = PREFIX + String.format(Locale.ROOT, "%08x", place);
    return UnsafeByteOperations.unsafeWrap(name.getBytes(StandardCharsets.US_ASCII));
  }

  /** Keys of each transaction of {@link #fill} but the last. */
  int batch() {
    return FillKeys.batch(values.bytes());
  }

  /** A random number from 0 to {@code bound} - 1. */
  int random(int bound) {
    return random.nextInt(bound);
  }

  /** The transactions that write the keys from {@link #written} to {@code total} - 1. */
  FillKeys fill(int total) {
    if (!sorted) {
      return FillKeys.batched(written, total, ScaleKeys::name, values::value, values.bytes());
    }
    int[] places = sortedPlaces(written, total);
    return FillKeys.batched(
        0,
        places.length,
        i -> at(Integer.toUnsignedLong(places[i])),
        i -> values.value(numberAt(places[i])),
        values.bytes());
  }

  /** The places of the keys {@code from} to {@code until} - 1 in the order of their names. */
  private static int[] sortedPlaces(int from, int until) {
    int[] places = new int[until - from];
    for (int i = 0; i < places.length; i++) {
      // Names are ordered by the unsigned place.
      places[i] = (from + i) * SPREAD ^ Integer.MIN_VALUE;
    }
    Arrays.sort(places);
    for (int i = 0; i < places.length; i++) {
      places[i] ^= Integer.MIN_VALUE;
    }
    return places;
  }

  private static int numberAt(int place) {
    return place * GATHER;
  }

  /** A put of the next key. */
  byte[] putNew() {
    return put(number(written++), 0);
  }

  /** A put of a random key that exists. */
  byte[] overwrite() {
    return put(number(random.nextInt(written)), random.nextLong());
  }

  private byte[] put(int key, long salt) {
    return PutRequest.newBuilder()
        .setKey(name(key))
        .setValue(values.value(key + salt))
        .build()
        .toByteArray();
  }

  /** A linearizable read of a random key. */
  byte[] get() {
    return RangeRequest.newBuilder()
        .setKey(name(number(random.nextInt(written))))
        .build()
        .toByteArray();
  }

  /**
   * A page of {@link #PAGE} keys from a random place on.
   *
   * @param revision 0: the current one
   * @param keys that exist at that revision, at least three pages
   */
  byte[] page(boolean keysOnly, long revision, int keys) {
    double last = 1 - 3.0 * PAGE / keys;
    long place = (long) (random.nextDouble() * last * (1L << 32));
    return RangeRequest.newBuilder()
        .setKey(at(place))
        .setRangeEnd(END)
        .setLimit(PAGE)
        .setKeysOnly(keysOnly)
        .setRevision(revision)
        .build()
        .toByteArray();
  }

  /** The number of all keys at a revision; 0: the current one. */
  byte[] count(long revision) {
    return RangeRequest.newBuilder()
        .setKey(ByteString.copyFromUtf8(PREFIX))
        .setRangeEnd(END)
        .setCountOnly(true)
        .setRevision(revision)
        .build()
        .toByteArray();
  }
}
