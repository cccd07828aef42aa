package io.troupe.mvcc;

import io.troupe.model.Bytes;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * {@link OrderedStore} in memory, for simulation and as the reference of property tests. Spaces are
 * immutable trees, so a cursor holds a frozen view without a copy.
 */
public final class InMemoryOrderedStore implements OrderedStore {
  private final Map<Space, FrozenTree> spaces = new EnumMap<>(Space.class);
  private long bytes;

  /** An empty store. */
  public InMemoryOrderedStore() {
    for (Space space : Space.values()) {
      spaces.put(space, FrozenTree.EMPTY);
    }
  }

  private InMemoryOrderedStore(InMemoryOrderedStore other) {
    spaces.putAll(other.spaces);
    bytes = other.bytes;
  }

  /** An independent store with the same content, like a checkpoint. */
  public synchronized InMemoryOrderedStore copy() {
    return new InMemoryOrderedStore(this);
  }

  @Override
  public StoreView freeze() {
    return copy();
  }

  @Override
  public synchronized @Nullable Bytes get(Space space, Bytes key) {
    return tree(space).get(key);
  }

  @Override
  public synchronized Cursor cursor(
      Space space, Bytes from, @Nullable Bytes toExclusive, boolean reverse) {
    return new TreeCursor(tree(space).walk(from, toExclusive, reverse));
  }

  @Override
  public synchronized void write(StoreBatch batch) {
    for (StoreBatch.Change change : batch.changes()) {
      FrozenTree tree = tree(change.space());
      Bytes old = tree.get(change.key());
      Bytes value = change.value();
      spaces.put(
          change.space(),
          value == null ? tree.remove(change.key()) : tree.put(change.key(), value));
      bytes -= old == null ? 0 : change.key().length() + old.length();
      bytes += value == null ? 0 : change.key().length() + value.length();
    }
  }

  @Override
  public synchronized long sizeOnDisk() {
    return bytes;
  }

  @Override
  public synchronized long sizeInUse() {
    return bytes;
  }

  @Override
  public void close() {}

  private FrozenTree tree(Space space) {
    FrozenTree tree = spaces.get(space);
    if (tree == null) {
      throw new StoreException("no space " + space);
    }
    return tree;
  }

  private static final class TreeCursor implements Cursor {
    private final FrozenTree.Walk walk;
    private Map.@Nullable Entry<Bytes, Bytes> current;

    TreeCursor(FrozenTree.Walk walk) {
      this.walk = walk;
    }

    @Override
    public boolean next() {
      current = walk.next();
      return current != null;
    }

    @Override
    public boolean seek(Bytes key) {
      walk.seek(key);
      return next();
    }

    @Override
    public Bytes key() {
      return record().getKey();
    }

    @Override
    public Bytes value() {
      return record().getValue();
    }

    private Map.Entry<Bytes, Bytes> record() {
      if (current == null) {
        throw new IllegalStateException("cursor is not at a record");
      }
      return current;
    }

    @Override
    public void close() {}
  }
}
