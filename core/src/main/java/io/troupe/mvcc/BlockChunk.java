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

  /** The last result of {@link #merged(int, BlockChunk)}, and its factor; as that method. */
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
   * The same keys in fewer blocks, if possible in those of an earlier chunk, whose starts it then
   * shares. A published chunk remembers the result, so revisions that share the chunk share the
   * result too. For the applying thread.
   *
   * @param factor number of adjacent blocks that become one, 2 or more; fewer if they have very
   *     many keys, up to four times as many in blocks of an earlier chunk
   * @param earlier from the same start to the same end as this chunk; null if there is none
   */
  BlockChunk merged(int factor, @Nullable BlockChunk earlier) {
    BlockChunk known = merged;
    if (known != null && mergedFactor == factor) {
      return known;
    }
    BlockChunk result = earlier == null ? null : inBlocksOf(earlier, factor);
    if (result == null) {
      result = merged(factor);
    }
    if (shared) {
      merged = result;
      mergedFactor = factor;
    }
    return result;
  }

  private BlockChunk merged(int factor) {
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
    return of(blocks);
  }

  /** Null if a start is no longer one here, or if there would be too few or too many blocks. */
  private @Nullable BlockChunk inBlocksOf(BlockChunk earlier, int factor) {
    int fewest = (counts.length + factor - 1) / factor;
    if (fewest > 2 * earlier.size() || 2 * earlier.size() > 3 * fewest) {
      return null;
    }
    int[] sums = new int[earlier.size()];
    int slot = 0;
    for (int i = 0; i < sums.length; i++) {
      if (slot == counts.length || compare(slot, earlier, i) != 0) {
        return null;
      }
      int from = slot;
      long sum = 0;
      do {
        sum += counts[slot++];
      } while (slot < counts.length && (i + 1 == sums.length || compare(slot, earlier, i + 1) < 0));
      if (slot - from > 4 * factor || sum > CountBounds.MOST_BLOCK_KEYS) {
        return null;
      }
      sums[i] = (int) sum;
    }
    return new BlockChunk(earlier.starts, earlier.ends, sums, keys);
  }

  private int compare(int slot, BlockChunk other, int otherSlot) {
    return Arrays.compareUnsigned(
        starts,
        slot == 0 ? 0 : ends[slot - 1],
        ends[slot],
        other.starts,
        otherSlot == 0 ? 0 : other.ends[otherSlot - 1],
        other.ends[otherSlot]);
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
