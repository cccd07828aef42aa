package io.troupe.tests.malformed;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Random;

/** Damaged copies of valid bytes. */
final class Mutations {
  private static final byte[] EDGES = {0, 1, 0x7f, (byte) 0x80, (byte) 0xff, 0x08, 0x12, 0x0a};

  private Mutations() {}

  static byte[] random(Random random, int atMost) {
    byte[] bytes = new byte[random.nextInt(atMost + 1)];
    random.nextBytes(bytes);
    return bytes;
  }

  /** One to four changes: bits, bytes, and pieces that are lost, repeated, added or truncated. */
  static byte[] of(Random random, byte[] right) {
    byte[] bytes = right.clone();
    for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
      bytes = changed(random, bytes);
    }
    return bytes;
  }

  private static byte[] changed(Random random, byte[] bytes) {
    if (bytes.length == 0) {
      return random(random, 8);
    }
    int at = random.nextInt(bytes.length);
    int length = Math.min(bytes.length - at, 1 + random.nextInt(8));
    switch (random.nextInt(7)) {
      case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
      case 1 -> bytes[at] = EDGES[random.nextInt(EDGES.length)];
      case 2 -> {
        return joined(Arrays.copyOf(bytes, at), random(random, 16), tail(bytes, at));
      }
      case 3 -> {
        return joined(Arrays.copyOf(bytes, at), tail(bytes, at + length));
      }
      case 4 -> {
        byte[] piece = Arrays.copyOfRange(bytes, at, at + length);
        return joined(Arrays.copyOf(bytes, at + length), piece, tail(bytes, at));
      }
      case 5 -> {
        return Arrays.copyOf(bytes, at);
      }
      default -> {
        // The longest number that protobuf can encode, where a length or a tag may be expected.
        byte[] huge = {-1, -1, -1, -1, -1, -1, -1, -1, -1, 1};
        return joined(Arrays.copyOf(bytes, at), huge, tail(bytes, at));
      }
    }
    return bytes;
  }

  private static byte[] tail(byte[] bytes, int from) {
    return Arrays.copyOfRange(bytes, Math.min(from, bytes.length), bytes.length);
  }

  private static byte[] joined(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }
}
