package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.BlockChunk.Block;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Divides live keys, added in their order, into blocks within the bounds. One thread. */
final class BlockBuilder {
  /** Chunks have free places for blocks that are split later. */
  private static final int BLOCKS_OF_CHUNK = BlockChunk.MOST_BLOCKS * 3 / 4;

  private final long maxBytes;
  private List<BlockChunk> chunks = new ArrayList<>();
  private List<Block> blocks = new ArrayList<>();
  private long bytes;
  private int blockKeys;
  private Bytes start = Bytes.EMPTY;
  private int count;
  private @Nullable Bytes last;
  private boolean merged;

  BlockBuilder(CountBounds bounds) {
    this.maxBytes = bounds.maxBytes() / 2;
    this.blockKeys = bounds.blockKeys();
  }

  /** Adds a key, above the one before. */
  void add(Bytes key) {
    Bytes before = last;
    // Half of what a block may have at most: neither the next creations nor deletions change it.
    if (before != null && count >= blockKeys + blockKeys / 2) {
      Bytes separator = KeyBlocks.separator(before, key);
      if (separator != null) {
        addWithinBounds(new Block(start, count));
        start = separator;
        count = 0;
      }
    }
    count = Math.addExact(count, 1);
    last = key;
  }

  private void addBlock(Block block) {
    blocks.add(block);
    if (blocks.size() == BLOCKS_OF_CHUNK) {
      endChunk();
    }
  }

  private void addWithinBounds(Block block) {
    addBlock(block);
    if (bytes > maxBytes && blockKeys < CountBounds.MOST_BLOCK_KEYS) {
      mergeNeighbors();
      merged = true;
    }
  }

  private void endChunk() {
    BlockChunk chunk = BlockChunk.of(blocks);
    chunks.add(chunk);
    bytes += chunk.bytes();
    blocks.clear();
  }

  private void mergeNeighbors() {
    blockKeys *= 2;
    List<BlockChunk> before = chunks;
    List<Block> rest = List.copyOf(blocks);
    chunks = new ArrayList<>();
    blocks = new ArrayList<>();
    bytes = 0;
    Block open = null;
    for (BlockChunk chunk : before) {
      for (int slot = 0; slot < chunk.size(); slot++) {
        open = merged(open, chunk.block(slot));
      }
    }
    for (Block block : rest) {
      open = merged(open, block);
    }
    if (open != null) {
      addBlock(open);
    }
  }

  /** Joins a block with the one before, or adds that one and returns the block. */
  private Block merged(@Nullable Block open, Block next) {
    if (open == null) {
      return next;
    }
    if ((long) open.count() + next.count() <= 2L * blockKeys) {
      return new Block(open.start(), open.count() + next.count());
    }
    addBlock(open);
    return next;
  }

  /** The blocks of all keys. */
  KeyBlocks finish() {
    addBlock(new Block(start, count));
    return ofBlocks();
  }

  private KeyBlocks ofBlocks() {
    if (!blocks.isEmpty()) {
      endChunk();
    }
    long keys = 0;
    for (BlockChunk chunk : chunks) {
      keys += chunk.keys();
    }
    return new KeyBlocks(chunks.toArray(BlockChunk[]::new), keys);
  }

  /**
   * Blocks that a state has.
   *
   * @param merged true if some were merged because all of them need too much memory: their rows are
   *     still those of the smaller blocks
   */
  record Stored(KeyBlocks blocks, boolean merged) {}

  /**
   * Reads the blocks that a state has. A member with more memory may have written them.
   *
   * @throws StoreException if their rows are damaged
   */
  static Stored stored(StoreView store, CountBounds bounds) {
    BlockBuilder builder = new BlockBuilder(bounds);
    boolean first = true;
    try (OrderedStore.Cursor rows = CountRows.cursor(store)) {
      while (rows.next()) {
        Bytes start = CountRows.start(rows.key());
        if (first != start.isEmpty()) {
          throw new StoreException("the first block of live keys has no count");
        }
        first = false;
        builder.addWithinBounds(new Block(start, CountRows.count(rows.value())));
      }
    }
    if (first) {
      throw new StoreException("the state has no counts of live keys");
    }
    return new Stored(builder.ofBlocks(), builder.merged);
  }
}
