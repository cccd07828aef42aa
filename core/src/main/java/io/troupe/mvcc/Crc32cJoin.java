package io.troupe.mvcc;

/**
 * Joins CRC-32C values: computes the value of two byte sequences together from their separate
 * values. So parts may be summed in any order. Appending n zero bytes multiplies a sum by x to the
 * power of 8n, modulo the polynomial.
 */
public final class Crc32cJoin {
  /** Castagnoli polynomial, lowest power in the highest bit. */
  private static final int POLYNOMIAL = 0x82f63b78;

  /** Bits of a sum that one lookup multiplies. */
  private static final int BITS = 4;

  private static final int PLACES = Integer.SIZE / BITS;
  private static final int VALUES = 1 << BITS;

  /**
   * Products with x to the power of 8 * 2^k modulo the polynomial, the factor for 2^k further
   * bytes: at (k * PLACES + place) * VALUES + value, that of these bits at this place of a sum.
   */
  private static final int[] PRODUCTS = products();

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
        shifted = shift(shifted, k);
      }
      rest >>>= 1;
    }
    return shifted ^ second;
  }

  /** The sum of a sequence that is followed by 2^k zero bytes. */
  private static int shift(int sum, int k) {
    int product = 0;
    int table = k * PLACES * VALUES;
    for (int rest = sum; rest != 0; rest >>>= BITS) {
      product ^= PRODUCTS[table + (rest & (VALUES - 1))];
      table += VALUES;
    }
    return product;
  }

  private static int[] products() {
    int[] products = new int[Integer.SIZE * PLACES * VALUES];
    int at = 0;
    int power = 1 << 23;
    for (int k = 0; k < Integer.SIZE; k++) {
      for (int place = 0; place < PLACES; place++) {
        for (int value = 0; value < VALUES; value++) {
          products[at++] = multiply(power, value << (BITS * place));
        }
      }
      power = multiply(power, power);
    }
    return products;
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
