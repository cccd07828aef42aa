package io.troupe.mvcc;

/**
 * Joins CRC-32C values: computes the value of two byte sequences together from their separate
 * values. So parts may be summed in any order. Appending n zero bytes multiplies a sum by x to the
 * power of 8n, modulo the polynomial.
 */
public final class Crc32cJoin {
  /** Castagnoli polynomial, lowest power in the highest bit. */
  private static final int POLYNOMIAL = 0x82f63b78;

  /** At k, x to the power of 8 * 2^k, modulo the polynomial: the factor for 2^k further bytes. */
  private static final int[] POWERS = powers();

  private Crc32cJoin() {}

  /**
   * Returns the value of both sequences together.
   *
   * @param secondLength length of the second sequence in bytes, 0 or more
   */
  public static int join(int first, int second, int secondLength) {
    int shifted = first;
    int rest = secondLength;
    for (int k = 0; rest != 0; k++) {
      if ((rest & 1) != 0) {
        shifted = multiply(POWERS[k], shifted);
      }
      rest >>>= 1;
    }
    return shifted ^ second;
  }

  private static int[] powers() {
    int[] powers = new int[Integer.SIZE];
    powers[0] = 1 << 23;
    for (int k = 1; k < powers.length; k++) {
      powers[k] = multiply(powers[k - 1], powers[k - 1]);
    }
    return powers;
  }

  private static int multiply(int a, int b) {
    int product = 0;
    int factor = b;
    for (int rest = a; rest != 0; rest <<= 1) {
      product ^= factor & (rest >> 31);
      factor = (factor >>> 1) ^ (POLYNOMIAL & -(factor & 1));
    }
    return product;
  }
}
