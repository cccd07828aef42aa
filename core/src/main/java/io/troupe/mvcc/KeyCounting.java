package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.function.LongConsumer;

/**
 * Counts the live keys of a state whose counts are missing or outdated, because a program that does
 * not know them wrote it last. Walks over all live keys once; the memory is that of the blocks.
 */
public final class KeyCounting {
  private static final int ROWS_OF_BATCH = 4096;
  private static final int KEYS_BETWEEN_REPORTS = 1 << 16;

  private KeyCounting() {}

  /** True if the state has no counts that belong to its applied index. */
  public static boolean isNeeded(StoreView store) {
    Bytes applied = store.get(Space.META, StoreKeys.META_APPLIED);
    return applied != null && !CountRows.areComplete(applied);
  }

  /**
   * Counts and writes the counts, if needed. A crash in between leaves the state without counts.
   *
   * @param progress receives the number of keys so far, every 65,536 keys
   */
  public static void runIfNeeded(OrderedStore store, CountBounds bounds, LongConsumer progress) {
    if (!isNeeded(store)) {
      return;
    }
    removeAll(store);
    FrozenHistory at = FrozenHistory.of(store);
    BlockBuilder builder = new BlockBuilder(bounds);
    long keys = 0;
    try (RecordWalk walk = walk(store, at.revision())) {
      while (walk.next()) {
        builder.add(walk.key());
        if (++keys % KEYS_BETWEEN_REPORTS == 0) {
          progress.accept(keys);
        }
      }
    }
    write(store, builder.finish());
    Bytes applied = store.get(Space.META, StoreKeys.META_APPLIED);
    if (applied == null) {
      throw new StoreException("the applied index disappeared");
    }
    setApplied(
        store,
        CountRows.applied(
            StoreKeys.getLong(applied, 0),
            StoreKeys.getLong(applied, 8),
            StoreKeys.getLong(applied, 16),
            at.revision() + 1));
  }

  /**
   * Reads the blocks of a state, after {@link #runIfNeeded}. If they need more memory than the
   * bounds permit, larger ones replace them. A crash in between leaves the state without counts.
   *
   * @throws StoreException if their rows are damaged
   */
  static KeyBlocks blocks(OrderedStore store, CountBounds bounds) {
    Bytes applied = store.get(Space.META, StoreKeys.META_APPLIED);
    if (applied == null) {
      return KeyBlocks.empty();
    }
    BlockBuilder.Stored stored = BlockBuilder.stored(store, bounds);
    if (stored.merged()) {
      setApplied(store, CountRows.withoutCounts(applied));
      removeAll(store);
      write(store, stored.blocks());
      setApplied(store, applied);
    }
    return stored.blocks();
  }

  private static void setApplied(OrderedStore store, Bytes row) {
    StoreBatch batch = new StoreBatch();
    batch.put(Space.META, StoreKeys.META_APPLIED, row);
    store.write(batch);
  }

  /** The newest records belong to a partial entry, if there is one. */
  private static RecordWalk walk(StoreView store, long revision) {
    if (PartialEntry.find(store) == null) {
      Bytes first = StoreKeys.LATEST_REVISION.successor();
      return new LatestIterator(store.cursor(Space.LATEST, first, null, false), first);
    }
    return new VersionIterator(VersionCursor.open(store, Bytes.EMPTY, null), revision);
  }

  private static void removeAll(OrderedStore store) {
    StoreBatch batch;
    do {
      batch = new StoreBatch();
      try (Cursor rows = CountRows.cursor(store)) {
        while (batch.changes().size() < ROWS_OF_BATCH && rows.next()) {
          batch.delete(Space.META, rows.key());
        }
      }
      store.write(batch);
    } while (!batch.isEmpty());
  }

  /** Writes the counts of all blocks; the store has none. */
  static void write(OrderedStore store, KeyBlocks blocks) {
    StoreBatch batch = new StoreBatch();
    for (BlockChunk chunk : blocks.chunks()) {
      for (int slot = 0; slot < chunk.size(); slot++) {
        batch.put(Space.META, CountRows.key(chunk.start(slot)), CountRows.value(chunk.count(slot)));
      }
      if (batch.changes().size() >= ROWS_OF_BATCH) {
        store.write(batch);
        batch = new StoreBatch();
      }
    }
    store.write(batch);
  }
}
