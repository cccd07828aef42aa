package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.BlockChunk.Block;
import io.troupe.mvcc.KeyBlocks.Place;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of live keys as the writer changes them, including all changes so far. Chunks that
 * were published are copied before they change. Blocks are merged before a batch is written and
 * split after it, so no block changes its bounds within an entry. For the applying thread.
 *
 * <p>Memory and time of a commit are bounded: it splits few blocks, and if the blocks need too much
 * memory, each commit merges the blocks of few chunks.
 */
final class LiveBlocks {
  private static final int SPLITS_OF_COMMIT = 4;
  private static final int SWEPT_CHUNKS_OF_COMMIT = 16;

  /** Chunks with fewer blocks are joined with a neighbor. */
  private static final int FEW_BLOCKS = BlockChunk.MOST_BLOCKS / 4;

  private static final int MOST_JOINED_BLOCKS = BlockChunk.MOST_BLOCKS * 3 / 4;

  /** A block whose count changed since it was written, with its change by the current entry. */
  private static final class Touched {
    private long entry;
    private int difference;
  }

  private final int leastBlockKeys;
  private final long maxBytes;
  private int blockKeys;
  private BlockChunk[] chunks;
  private long keys;
  private long bytes;

  /** True if readers use {@link #chunks}. */
  private boolean published;

  /** Chunks that no reader uses yet. */
  private final List<BlockChunk> own = new ArrayList<>();

  private @Nullable KeyBlocks last;
  private long entry;
  private final Map<Bytes, Touched> touched = new LinkedHashMap<>();
  private final BlockSplits splits = new BlockSplits();

  /** The next chunk whose blocks are merged to save memory, or -1. */
  private int sweep = -1;

  private long corrections;

  /** Continues with the blocks that are stored. */
  LiveBlocks(KeyBlocks stored, CountBounds bounds) {
    this.chunks = stored.chunks();
    this.keys = stored.keys();
    this.bytes = stored.bytes();
    this.leastBlockKeys = bounds.blockKeys();
    this.maxBytes = bounds.maxBytes() / 2;
    this.blockKeys = leastBlockKeys;
    long average = keys / stored.blocks();
    while (average > 2L * blockKeys && blockKeys < CountBounds.MOST_BLOCK_KEYS) {
      blockKeys *= 2;
    }
    last = stored;
    published = true;
    for (BlockChunk chunk : chunks) {
      chunk.share();
    }
  }

  /** A key became live. */
  void created(Bytes key) {
    change(key, 1);
  }

  /** A key is no longer live. */
  void removed(Bytes key) {
    change(key, -1);
  }

  private void change(Bytes key, int difference) {
    int index = KeyBlocks.chunkOf(chunks, key);
    BlockChunk chunk = ownChunk(index);
    int slot = chunk.find(key);
    Bytes start = chunk.start(slot);
    Touched block = touch(start);
    if (chunk.count(slot) + difference < 0) {
      splits.addWrong(start);
      return;
    }
    chunk.add(slot, difference);
    keys += difference;
    last = null;
    if (block.entry != entry) {
      block.entry = entry;
      block.difference = 0;
    }
    block.difference += difference;
  }

  private Touched touch(Bytes start) {
    return touched.computeIfAbsent(start, unknown -> new Touched());
  }

  /** The current entry is complete. */
  void endEntry() {
    entry++;
  }

  /** The blocks with all changes so far; valid until the next change. */
  KeyBlocks current() {
    return new KeyBlocks(chunks, keys);
  }

  /** Memory, in bytes. */
  long bytes() {
    return bytes;
  }

  /** Counts that did not match the keys of their block and were replaced, since the start. */
  long corrections() {
    return corrections;
  }

  // ---- a commit ----

  /**
   * Adds the counts after the last complete entry to the first batch of an entry that is written in
   * several: that batch contains the rows of the entries before.
   */
  void addCompleteTo(EntryRows to) {
    touched.forEach(
        (start, block) -> addRow(to, start, block.entry == entry ? block.difference : 0));
  }

  /** Merges blocks, and adds the counts to the last batch of complete entries. */
  void addTo(EntryRows to) {
    mergeSmall();
    sweep();
    touched.forEach((start, block) -> addRow(to, start, 0));
  }

  private void addRow(EntryRows to, Bytes start, int newer) {
    int index = KeyBlocks.chunkOf(chunks, start);
    int slot = chunks[index].find(start);
    Bytes row = CountRows.key(start);
    if (chunks[index].compare(slot, start) == 0) {
      to.putOwn(Space.META, row, CountRows.value(chunks[index].count(slot) - newer));
    } else {
      to.removeOwn(Space.META, row);
    }
  }

  /** The batch is written: the blocks are final for their revision. */
  KeyBlocks publish() {
    for (Bytes start : touched.keySet()) {
      Place place = current().find(start);
      if (chunks[place.chunk()].count(place.slot()) > 2 * blockKeys) {
        splits.add(chunks[place.chunk()].start(place.slot()));
      }
    }
    touched.clear();
    KeyBlocks blocks = last;
    if (blocks == null) {
      blocks = current();
      last = blocks;
      own.forEach(BlockChunk::share);
      own.clear();
      published = true;
    }
    return blocks;
  }

  /**
   * Splits blocks that became large, and corrects counts that do not match the keys: the counts are
   * derived, so an error in them must not stop a member. The new counts are written with the next
   * batch.
   *
   * @param store contains exactly the live keys that are counted
   */
  void split(StoreView store) {
    if (splits.hasWrong()) {
      Place place = current().find(splits.takeWrong());
      correct(place, splits.keys(store, current().start(place), end(place)));
    }
    for (int i = 0; i < SPLITS_OF_COMMIT && !splits.isEmpty(); i++) {
      Bytes start = splits.take();
      Place place = current().find(start);
      int count = chunks[place.chunk()].count(place.slot());
      if (chunks[place.chunk()].compare(place.slot(), start) != 0 || count <= 2 * blockKeys) {
        continue;
      }
      BlockSplits.Finding found =
          splits.find(store, new Block(start, count), end(place), blockKeys);
      if (found instanceof BlockSplits.Cut cut) {
        split(place, cut);
      } else if (found instanceof BlockSplits.Fewer fewer) {
        correct(place, fewer.keys());
      }
    }
  }

  /** The first key after a block, or null. */
  private @Nullable Bytes end(Place place) {
    Place next = current().next(place);
    return next == null ? null : current().start(next);
  }

  private void correct(Place place, int actual) {
    BlockChunk chunk = ownChunk(place.chunk());
    int difference = actual - chunk.count(place.slot());
    if (difference != 0) {
      chunk.add(place.slot(), difference);
      keys += difference;
      last = null;
      corrections++;
      touch(chunk.start(place.slot()));
    }
  }

  private void split(Place place, BlockSplits.Cut cut) {
    List<Block> blocks = blocks(chunks[place.chunk()]);
    Block whole = blocks.get(place.slot());
    Block right = new Block(cut.start(), whole.count() - cut.before());
    blocks.set(place.slot(), new Block(whole.start(), cut.before()));
    blocks.add(place.slot() + 1, right);
    if (blocks.size() <= BlockChunk.MOST_BLOCKS) {
      replace(place.chunk(), 1, BlockChunk.of(blocks));
    } else {
      int half = blocks.size() / 2;
      replace(
          place.chunk(),
          1,
          BlockChunk.of(blocks.subList(0, half)),
          BlockChunk.of(blocks.subList(half, blocks.size())));
    }
    touch(whole.start());
    touch(right.start());
  }

  // ---- merging ----

  private void mergeSmall() {
    List<Bytes> small = new ArrayList<>();
    for (Bytes start : touched.keySet()) {
      Place place = current().find(start);
      if (chunks[place.chunk()].count(place.slot()) <= small()) {
        small.add(start);
      }
    }
    for (Bytes start : small) {
      Place place = current().find(start);
      if (fitsNeighbor(chunks[place.chunk()], place.slot()) || isSmall(place.chunk())) {
        merge(place.chunk(), false);
      }
    }
  }

  private int small() {
    return blockKeys / 4;
  }

  private boolean fitsNeighbor(BlockChunk chunk, int slot) {
    int count = chunk.count(slot);
    return (slot > 0 && fits(chunk.count(slot - 1), count, false))
        || (slot + 1 < chunk.size() && fits(count, chunk.count(slot + 1), false));
  }

  private boolean isSmall(int index) {
    return chunks.length > 1 && chunks[index].size() < FEW_BLOCKS;
  }

  private boolean fits(int left, int right, boolean all) {
    return (long) left + right <= blockKeys && (all || Math.min(left, right) <= small());
  }

  /** If the blocks need too much memory, blocks become larger, a few chunks in each commit. */
  private void sweep() {
    boolean several = chunks.length > 1 || chunks[0].size() > 1;
    if (sweep < 0 && bytes > maxBytes && several && blockKeys < CountBounds.MOST_BLOCK_KEYS) {
      blockKeys *= 2;
      sweep = 0;
    } else if (sweep < 0 && blockKeys > leastBlockKeys && bytes < maxBytes / 8) {
      blockKeys /= 2;
    }
    for (int i = 0; i < SWEPT_CHUNKS_OF_COMMIT && sweep >= 0; i++) {
      int index = merge(sweep, true);
      sweep = index + 1 < chunks.length ? index + 1 : -1;
    }
  }

  /**
   * Merges neighbors in a chunk, and the chunk with a neighbor while it has few blocks.
   *
   * @param all false to merge small blocks only
   * @return the index of the chunk that has the blocks now
   */
  private int merge(int index, boolean all) {
    int at = index;
    while (true) {
      List<Block> before = blocks(chunks[at]);
      List<Block> merged = merged(before, all);
      if (merged.size() < before.size()) {
        replace(at, 1, BlockChunk.of(merged));
      }
      int left = at > 0 ? at - 1 : at;
      if (!isSmall(at)
          || left + 1 >= chunks.length
          || chunks[left].size() + chunks[left + 1].size() > MOST_JOINED_BLOCKS) {
        return at;
      }
      List<Block> joined = blocks(chunks[left]);
      joined.addAll(blocks(chunks[left + 1]));
      replace(left, 2, BlockChunk.of(joined));
      at = left;
    }
  }

  private List<Block> merged(List<Block> blocks, boolean all) {
    List<Block> merged = new ArrayList<>();
    for (Block block : blocks) {
      Block before = merged.isEmpty() ? null : merged.get(merged.size() - 1);
      if (before != null && fits(before.count(), block.count(), all)) {
        merged.set(merged.size() - 1, new Block(before.start(), before.count() + block.count()));
        touch(before.start());
        touch(block.start());
      } else {
        merged.add(block);
      }
    }
    return merged;
  }

  // ---- chunks ----

  private static List<Block> blocks(BlockChunk chunk) {
    List<Block> blocks = new ArrayList<>(chunk.size() + 1);
    for (int slot = 0; slot < chunk.size(); slot++) {
      blocks.add(chunk.block(slot));
    }
    return blocks;
  }

  private BlockChunk ownChunk(int index) {
    BlockChunk chunk = chunks[index];
    if (!chunk.isShared()) {
      return chunk;
    }
    BlockChunk copy = chunk.copy();
    replace(index, 1, copy);
    return copy;
  }

  private void replace(int index, int former, BlockChunk... by) {
    for (int i = index; i < index + former; i++) {
      bytes -= chunks[i].bytes();
    }
    for (BlockChunk chunk : by) {
      bytes += chunk.bytes();
      own.add(chunk);
    }
    if (by.length != former || published) {
      BlockChunk[] next = Arrays.copyOf(chunks, chunks.length - former + by.length);
      System.arraycopy(
          chunks, index + former, next, index + by.length, chunks.length - index - former);
      chunks = next;
      published = false;
    }
    System.arraycopy(by, 0, chunks, index, by.length);
    last = null;
  }
}
