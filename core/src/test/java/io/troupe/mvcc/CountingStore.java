package io.troupe.mvcc;

import io.troupe.model.Bytes;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Counts cursors and their steps, and runs actions before a cursor is opened or moved. */
final class CountingStore implements OrderedStore {
  private final OrderedStore store = new InMemoryOrderedStore();
  long steps;
  long seeks;
  int open;

  /** Cursors opened over each space. */
  final Map<Space, Integer> opened = new EnumMap<>(Space.class);

  Runnable beforeCursor = () -> {};
  Runnable beforeStep = () -> {};

  @Override
  public StoreView freeze() {
    return store.freeze();
  }

  @Override
  public @Nullable Bytes get(Space space, Bytes key) {
    return store.get(space, key);
  }

  @Override
  public Cursor cursor(Space space, Bytes from, @Nullable Bytes toExclusive, boolean reverse) {
    beforeCursor.run();
    Cursor cursor = store.cursor(space, from, toExclusive, reverse);
    open++;
    opened.merge(space, 1, Integer::sum);
    return new Cursor() {
      @Override
      public boolean next() {
        steps++;
        beforeStep.run();
        return cursor.next();
      }

      @Override
      public boolean seek(Bytes key) {
        steps++;
        seeks++;
        return cursor.seek(key);
      }

      @Override
      public Bytes key() {
        return cursor.key();
      }

      @Override
      public Bytes value() {
        return cursor.value();
      }

      @Override
      public void close() {
        open--;
        cursor.close();
      }
    };
  }

  @Override
  public void write(StoreBatch batch) {
    store.write(batch);
  }

  @Override
  public long sizeOnDisk() {
    return store.sizeOnDisk();
  }

  @Override
  public long sizeInUse() {
    return store.sizeInUse();
  }

  @Override
  public void close() {
    store.close();
  }
}
