package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.BlockChunk.Block;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The blocks that are too large, and where to split them, and those whose count is wrong. A block
 * is not split where its keys differ only after the longest start; such a block is tried again when
 * it is twice as large. One thread.
 */
final class BlockSplits {
  /** Blocks to remember that cannot be split; if there are more, some are tried too often. */
  private static final int MOST_UNSPLITTABLE = 1024;

  private final Set<Bytes> large = new LinkedHashSet<>();
  private final Map<Bytes, Integer> unsplittable = new HashMap<>();
  private final Set<Bytes> wrong = new LinkedHashSet<>();

  /** What the keys of a block that is counted as too large show. */
  sealed interface Finding permits Cut, Fewer, NoCut {}

  /**
   * The bounds of a split.
   *
   * @param start of the second block
   * @param before live keys of the first one
   */
  record Cut(Bytes start, int before) implements Finding {}

  /** The block has only so many live keys, fewer than counted. */
  record Fewer(int keys) implements Finding {}

  /** No start separates the keys. */
  record NoCut() implements Finding {}

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

  /** Adds a block whose keys were removed more often than counted. */
  void addWrong(Bytes start) {
    wrong.add(start);
  }

  boolean hasWrong() {
    return !wrong.isEmpty();
  }

  /** Removes and returns the start of one that was added. */
  Bytes takeWrong() {
    Bytes start = wrong.iterator().next();
    wrong.remove(start);
    return start;
  }

  /**
   * Counts the live keys of a block one by one.
   *
   * @param end first key after the block, or null
   */
  int keys(StoreView store, Bytes start, @Nullable Bytes end) {
    int count = 0;
    try (Cursor keys = cursor(store, start, end)) {
      while (keys.next()) {
        count = Math.incrementExact(count);
      }
    }
    return count;
  }

  private static Cursor cursor(StoreView store, Bytes start, @Nullable Bytes end) {
    Bytes from = start.isEmpty() ? StoreKeys.LATEST_REVISION.successor() : start;
    return store.cursor(Space.LATEST, from, end, false);
  }

  /**
   * Finds a cut in the middle of a block, or in a block that is much too large, near its start. Its
   * cost depends on {@code blockKeys} and not on the size of the block.
   *
   * @param store contains exactly the live keys that are counted
   * @param end first key after the block, or null
   * @param blockKeys at least half of the live keys of the block
   */
  Finding find(StoreView store, Block block, @Nullable Bytes end, int blockKeys) {
    Integer failedAt = unsplittable.get(block.start());
    if (failedAt != null && block.count() / 2 < failedAt) {
      return new NoCut();
    }
    int wanted = Math.min(block.count() / 2, 2 * blockKeys);
    Finding found;
    try (Cursor keys = cursor(store, block.start(), end)) {
      found = after(keys, wanted, (int) Math.min(block.count(), wanted + 4L * blockKeys));
    }
    if (found instanceof NoCut) {
      try (Cursor keys = cursor(store, block.start(), end)) {
        found = lastBefore(keys, wanted);
      }
    }
    unsplittable.remove(block.start());
    if (found instanceof NoCut) {
      if (unsplittable.size() >= MOST_UNSPLITTABLE) {
        unsplittable.clear();
      }
      unsplittable.put(block.start(), block.count());
    } else if (found instanceof Cut cut && block.count() - cut.before() > 2 * blockKeys) {
      large.add(cut.start());
    }
    return found;
  }

  /** The first cut after {@code wanted} keys and before {@code most}. */
  private static Finding after(Cursor keys, int wanted, int most) {
    for (int count = 0; count < wanted; count++) {
      if (!keys.next()) {
        return new Fewer(count);
      }
    }
    Bytes before = keys.key();
    for (int count = wanted; count < most; count++) {
      if (!keys.next()) {
        return new Fewer(count);
      }
      Bytes key = keys.key();
      Bytes start = KeyBlocks.separator(before, key);
      if (start != null) {
        return new Cut(start, count);
      }
      before = key;
    }
    return new NoCut();
  }

  /** The last cut before {@code wanted} keys, which exist. */
  private static Finding lastBefore(Cursor keys, int wanted) {
    Bytes before = null;
    Finding last = new NoCut();
    for (int count = 0; count < wanted && keys.next(); count++) {
      Bytes key = keys.key();
      Bytes start = before == null ? null : KeyBlocks.separator(before, key);
      last = start == null ? last : new Cut(start, count);
      before = key;
    }
    return last;
  }
}
