package io.troupe.mvcc;

import io.troupe.model.Bytes;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The live keys of one revision, divided into blocks in the order of keys, with the number of keys
 * of each block. The first block starts at the empty key. Immutable once it is published.
 */
final class KeyBlocks {
  /** Longest start of a block: keys may be much longer, and the starts are in memory. */
  static final int MOST_START_BYTES = 256;

  private final BlockChunk[] chunks;
  private final long keys;

  /**
   * A block.
   *
   * @param chunk index of its chunk
   * @param slot its index in the chunk
   */
  record Place(int chunk, int slot) {}

  /** Takes ownership of the array, which has at least one chunk. */
  KeyBlocks(BlockChunk[] chunks, long keys) {
    this.chunks = chunks;
    this.keys = keys;
  }

  /** One block without keys. */
  static KeyBlocks empty() {
    BlockChunk chunk = BlockChunk.of(List.of(new BlockChunk.Block(Bytes.EMPTY, 0)));
    return new KeyBlocks(new BlockChunk[] {chunk}, 0);
  }

  /**
   * The shortest bytes above one key and not above the next, or null if they are longer than a
   * start may be.
   *
   * @param before below {@code key}
   */
  static @Nullable Bytes separator(Bytes before, Bytes key) {
    int same = 0;
    int shorter = Math.min(Math.min(before.length(), key.length()), MOST_START_BYTES);
    while (same < shorter && before.at(same) == key.at(same)) {
      same++;
    }
    return same < MOST_START_BYTES ? Bytes.wrap(key.slice(0, same + 1).toArray()) : null;
  }

  /** All live keys. */
  long keys() {
    return keys;
  }

  /** Number of blocks. */
  long blocks() {
    long blocks = 0;
    for (BlockChunk chunk : chunks) {
      blocks += chunk.size();
    }
    return blocks;
  }

  /** Memory, in bytes. */
  long bytes() {
    long bytes = 0;
    for (BlockChunk chunk : chunks) {
      bytes += chunk.bytes();
    }
    return bytes;
  }

  /** Memory of the counts without the starts, in bytes. */
  long countBytes() {
    long bytes = 0;
    for (BlockChunk chunk : chunks) {
      bytes += chunk.countBytes();
    }
    return bytes;
  }

  /**
   * The same keys in fewer blocks, which need less memory. For the applying thread.
   *
   * @param factor as in {@link BlockChunk#merged}, or 1
   * @param earlier blocks of an earlier revision, whose starts are shared where possible; null if
   *     there are none
   */
  KeyBlocks merged(int factor, @Nullable KeyBlocks earlier) {
    if (factor == 1) {
      return this;
    }
    BlockChunk[] fewer = new BlockChunk[chunks.length];
    for (int i = 0; i < fewer.length; i++) {
      BlockChunk same = earlier == null ? null : earlier.chunkLike(this, i);
      fewer[i] = chunks[i].merged(factor, same);
    }
    return new KeyBlocks(fewer, keys);
  }

  /** The chunk with the same bounds as one of other blocks, or null. */
  private @Nullable BlockChunk chunkLike(KeyBlocks other, int index) {
    int own = chunkOf(chunks, other.chunks[index].start(0));
    boolean last = own + 1 == chunks.length;
    boolean same =
        startsLike(own, other, index)
            && last == (index + 1 == other.chunks.length)
            && (last || startsLike(own + 1, other, index + 1));
    return same ? chunks[own] : null;
  }

  private boolean startsLike(int own, KeyBlocks other, int index) {
    return chunks[own].start(0).equals(other.chunks[index].start(0));
  }

  /** The caller does not change the array. */
  BlockChunk[] chunks() {
    return chunks;
  }

  /** The block that contains a key, or that it would be in. */
  Place find(Bytes key) {
    int chunk = chunkOf(chunks, key);
    return new Place(chunk, chunks[chunk].find(key));
  }

  static int chunkOf(BlockChunk[] chunks, Bytes key) {
    int low = 0;
    int high = chunks.length - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (chunks[middle].compare(0, key) <= 0) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  Bytes start(Place place) {
    return chunks[place.chunk()].start(place.slot());
  }

  /** The next block, or null. */
  @Nullable Place next(Place place) {
    if (place.slot() + 1 < chunks[place.chunk()].size()) {
      return new Place(place.chunk(), place.slot() + 1);
    }
    return place.chunk() + 1 < chunks.length ? new Place(place.chunk() + 1, 0) : null;
  }

  /**
   * Live keys of the blocks from one block to another.
   *
   * @param to first block that does not count, not before {@code from}; null for all of the rest
   */
  long keys(Place from, @Nullable Place to) {
    int lastChunk = to == null ? chunks.length : to.chunk();
    if (lastChunk == from.chunk() && to != null) {
      return chunks[lastChunk].keys(from.slot(), to.slot());
    }
    BlockChunk first = chunks[from.chunk()];
    long sum = first.keys(from.slot(), first.size());
    for (int chunk = from.chunk() + 1; chunk < lastChunk; chunk++) {
      sum += chunks[chunk].keys();
    }
    return to == null ? sum : sum + chunks[lastChunk].keys(0, to.slot());
  }

  /**
   * The last block from which on, up to {@code end}, there are {@code wanted} keys or more.
   *
   * @param end first block that does not count; null for none
   * @return the first block if there are fewer keys
   */
  Place lastBlocksOf(long wanted, @Nullable Place end) {
    int chunk = end == null ? chunks.length - 1 : end.chunk();
    int slot = end == null ? chunks[chunk].size() : end.slot();
    long sum = 0;
    while (sum < wanted) {
      if (slot > 0) {
        slot--;
        sum += chunks[chunk].count(slot);
      } else if (chunk == 0) {
        break;
      } else {
        chunk--;
        slot = chunks[chunk].size();
      }
    }
    if (slot == chunks[chunk].size()) {
      slot--;
    }
    return new Place(chunk, slot);
  }
}
