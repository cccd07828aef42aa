package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.Invariant;
import io.troupe.mvcc.BlockChunk.Block;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The blocks that are too large, and where to split them. A block is not split where its keys
 * differ only after the longest start; such a block is tried again when it is twice as large. One
 * thread.
 */
final class BlockSplits {
  /** Blocks to remember that cannot be split; if there are more, some are tried too often. */
  private static final int MOST_UNSPLITTABLE = 1024;

  private final Set<Bytes> large = new LinkedHashSet<>();
  private final Map<Bytes, Integer> unsplittable = new HashMap<>();

  /**
   * The bounds of a split.
   *
   * @param start of the second block
   * @param before live keys of the first one
   */
  record Cut(Bytes start, int before) {}

  /** Adds a block that is too large, unless it is added already. */
  void add(Bytes start) {
    large.add(start);
  }

  boolean isEmpty() {
    return large.isEmpty();
  }

  /** Removes and returns the start of the block that was added first. */
  Bytes take() {
    Bytes start = large.iterator().next();
    large.remove(start);
    return start;
  }

  /**
   * Finds a cut in the middle of a block, or in a block that is much too large, near its start. Its
   * cost depends on {@code blockKeys} and not on the size of the block.
   *
   * @param store contains exactly the live keys that are counted
   * @param end first key after the block, or null
   * @param blockKeys at least half of the live keys of the block
   * @return null if there is none
   */
  @Nullable Cut find(StoreView store, Block block, @Nullable Bytes end, int blockKeys) {
    Integer failedAt = unsplittable.get(block.start());
    if (failedAt != null && block.count() / 2 < failedAt) {
      return null;
    }
    int wanted = Math.min(block.count() / 2, 2 * blockKeys);
    Bytes from = block.start().isEmpty() ? StoreKeys.LATEST_REVISION.successor() : block.start();
    Cut cut;
    try (Cursor keys = store.cursor(Space.LATEST, from, end, false)) {
      cut = after(keys, wanted, (int) Math.min(block.count(), wanted + 4L * blockKeys));
    }
    if (cut == null) {
      try (Cursor keys = store.cursor(Space.LATEST, from, end, false)) {
        cut = lastBefore(keys, wanted);
      }
    }
    unsplittable.remove(block.start());
    if (cut == null) {
      if (unsplittable.size() >= MOST_UNSPLITTABLE) {
        unsplittable.clear();
      }
      unsplittable.put(block.start(), block.count());
    } else if (block.count() - cut.before() > 2 * blockKeys) {
      large.add(cut.start());
    }
    return cut;
  }

  /** The first cut after {@code wanted} keys and before {@code most}. */
  private static @Nullable Cut after(Cursor keys, int wanted, int most) {
    for (int i = 0; i < wanted; i++) {
      next(keys);
    }
    Bytes before = keys.key();
    for (int count = wanted; count < most; count++) {
      next(keys);
      Bytes key = keys.key();
      Bytes start = KeyBlocks.separator(before, key);
      if (start != null) {
        return new Cut(start, count);
      }
      before = key;
    }
    return null;
  }

  /** The last cut before {@code wanted} keys. */
  private static @Nullable Cut lastBefore(Cursor keys, int wanted) {
    next(keys);
    Bytes before = keys.key();
    Cut last = null;
    for (int count = 1; count < wanted; count++) {
      next(keys);
      Bytes key = keys.key();
      Bytes start = KeyBlocks.separator(before, key);
      last = start == null ? last : new Cut(start, count);
      before = key;
    }
    return last;
  }

  private static void next(Cursor keys) {
    Invariant.require(keys.next(), "a block has fewer live keys than counted");
  }
}
