package io.troupe.mvcc;

/**
 * Bounds of the counts of live keys (docs/components/store.md). No result depends on them; tests
 * use small ones.
 *
 * @param blockKeys live keys of a block: a block of more than twice as many is split, and neighbors
 *     with fewer together are merged; 2 or more. Grows while the blocks need too much memory
 * @param maxBytes memory of the blocks and of their earlier counts, half of it for each
 */
public record CountBounds(int blockKeys, long maxBytes) {
  /**
   * A walk over a part of a block costs about half as much as a page of 500 keys. 100 million keys
   * then have 150,000 blocks of some 50 bytes.
   */
  private static final int BLOCK_KEYS = 512;

  private static final long LEAST_BYTES = 1 << 20;

  /** Blocks do not become larger than twice this, whatever their memory. */
  static final int MOST_BLOCK_KEYS = 1 << 28;

  /** For members: one thirty-second of the heap. */
  public static CountBounds ofHeap() {
    long share = Runtime.getRuntime().maxMemory() / 32;
    return new CountBounds(BLOCK_KEYS, Math.max(LEAST_BYTES, share));
  }

  public CountBounds {
    if (blockKeys < 2) {
      throw new IllegalArgumentException("blockKeys out of range: " + blockKeys);
    }
  }
}
