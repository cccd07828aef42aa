package io.troupe.bench.load;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import java.util.SplittableRandom;

/**
 * Values of random bytes. Different numbers give different values, so that a server which
 * compresses its blocks does not store less than one which does not.
 */
final class Values {
  private static final int STARTS = 1 << 20;

  private final int bytes;
  private final ByteString content;

  /**
   * @param bytes size of each value, 0 or more
   */
  Values(int bytes, long seed) {
    this.bytes = bytes;
    byte[] random = new byte[STARTS + bytes];
    SplittableRandom source = new SplittableRandom(seed);
    for (int i = 0; i < random.length; i++) {
      random[i] = (byte) source.nextInt();
    }
    this.content = UnsafeByteOperations.unsafeWrap(random);
  }

  /** Size of each value. */
  int bytes() {
    return bytes;
  }

  /** The value of this number, without a copy. */
  ByteString value(long number) {
    int start = (int) ((number * 0x9E3779B97F4A7C15L) >>> 44);
    return content.substring(start, start + bytes);
  }
}
