package io.troupe.mvcc;

import io.troupe.model.Bytes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Adjacent blocks of live keys, packed into few arrays. The starts never change. The counts change
 * only while {@link LiveBlocks} has not published the chunk; any number of threads read a published
 * one.
 */
final class BlockChunk {
  static final int MOST_BLOCKS = 256;

  /** This object, three arrays and its place in an array of chunks. */
  private static final int OVERHEAD_BYTES = 104;

  private static final int COUNTS_OVERHEAD_BYTES = 48;

  /** The starts of all blocks, one after the other. */
  private final byte[] starts;

  /** For each block, the end of its start in {@link #starts}. */
  private final int[] ends;

  private final int[] counts;
  private long keys;

  /** True if readers may use this chunk. */
  private boolean shared;

  /** The last result of {@link #merged}, and its factor. For the applying thread. */
  private @Nullable BlockChunk merged;

  private int mergedFactor;

  private BlockChunk(byte[] starts, int[] ends, int[] counts, long keys) {
    this.starts = starts;
    this.ends = ends;
    this.counts = counts;
    this.keys = keys;
  }

  /**
   * Blocks in the order of their starts.
   *
   * @param blocks 1 to {@link #MOST_BLOCKS}
   */
  static BlockChunk of(List<Block> blocks) {
    int bytes = 0;
    for (Block block : blocks) {
      bytes += block.start().length();
    }
    byte[] starts = new byte[bytes];
    int[] ends = new int[blocks.size()];
    int[] counts = new int[blocks.size()];
    long keys = 0;
    int at = 0;
    for (int i = 0; i < ends.length; i++) {
      Block block = blocks.get(i);
      at = block.start().copyTo(starts, at);
      ends[i] = at;
      counts[i] = block.count();
      keys += block.count();
    }
    return new BlockChunk(starts, ends, counts, keys);
  }

  /**
   * One block.
   *
   * @param start at or below all of its keys, above all keys of the block before
   * @param count live keys
   */
  record Block(Bytes start, int count) {}

  /** The same blocks with counts of their own. */
  BlockChunk copy() {
    return new BlockChunk(starts, ends, counts.clone(), keys);
  }

  /** Readers use this chunk from now on: its counts are final. */
  void share() {
    shared = true;
  }

  boolean isShared() {
    return shared;
  }

  /**
   * The same keys in fewer blocks. A published chunk remembers the result, so revisions that share
   * the chunk share the result too. For the applying thread.
   *
   * @param factor number of adjacent blocks that become one, 1 or more; fewer if they have very
   *     many keys
   */
  BlockChunk merged(int factor) {
    if (factor == 1) {
      return this;
    }
    BlockChunk known = merged;
    if (known != null && mergedFactor == factor) {
      return known;
    }
    List<Block> blocks = new ArrayList<>();
    int slot = 0;
    while (slot < counts.length) {
      Bytes start = start(slot);
      long sum = counts[slot];
      int end = slot + 1;
      while (end < counts.length
          && end - slot < factor
          && sum + counts[end] <= CountBounds.MOST_BLOCK_KEYS) {
        sum += counts[end];
        end++;
      }
      blocks.add(new Block(start, (int) sum));
      slot = end;
    }
    BlockChunk result = of(blocks);
    if (shared) {
      merged = result;
      mergedFactor = factor;
    }
    return result;
  }

  int size() {
    return ends.length;
  }

  /** Live keys of all blocks. */
  long keys() {
    return keys;
  }

  /** Shares the memory of the chunk. */
  Bytes start(int slot) {
    int from = slot == 0 ? 0 : ends[slot - 1];
    return Bytes.wrap(starts, from, ends[slot] - from);
  }

  int count(int slot) {
    return counts[slot];
  }

  Block block(int slot) {
    return new Block(start(slot), counts[slot]);
  }

  /** Changes the count of a block; returns the new count. */
  int add(int slot, int difference) {
    keys += difference;
    counts[slot] = Math.addExact(counts[slot], difference);
    return counts[slot];
  }

  /** Compares the start of a block with a key. */
  int compare(int slot, Bytes key) {
    return Arrays.compareUnsigned(
        starts,
        slot == 0 ? 0 : ends[slot - 1],
        ends[slot],
        key.backingArray(),
        key.backingOffset(),
        key.backingOffset() + key.length());
  }

  /** The last block that starts at or below a key; the first one if there is none. */
  int find(Bytes key) {
    int low = 0;
    int high = ends.length - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (compare(middle, key) <= 0) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  /** Live keys of the blocks from one slot to another, exclusive. */
  long keys(int from, int to) {
    if (from == 0 && to == ends.length) {
      return keys;
    }
    long sum = 0;
    for (int slot = from; slot < to; slot++) {
      sum += counts[slot];
    }
    return sum;
  }

  /** Memory, in bytes. */
  int bytes() {
    return OVERHEAD_BYTES + starts.length + 8 * ends.length;
  }

  /** Memory of a second chunk with the same blocks and other counts, in bytes. */
  int countBytes() {
    return COUNTS_OVERHEAD_BYTES + 4 * ends.length;
  }

  /** The array that chunks with the same blocks share. */
  Object sharedStarts() {
    return starts;
  }
}
