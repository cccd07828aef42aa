package io.troupe.mvcc;

import io.troupe.model.Bytes;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * {@link OrderedStore} in sorted maps, for simulation and as the oracle of property tests. A cursor
 * copies its part of the map, so it is frozen as the contract asks.
 */
public final class InMemoryOrderedStore implements OrderedStore {
  private final Map<Space, NavigableMap<Bytes, Bytes>> spaces = new EnumMap<>(Space.class);
  private long bytes;

  public InMemoryOrderedStore() {
    for (Space space : Space.values()) {
      spaces.put(space, new TreeMap<>());
    }
  }

  @Override
  public synchronized @Nullable Bytes get(Space space, Bytes key) {
    return map(space).get(key);
  }

  @Override
  public synchronized Cursor cursor(
      Space space, Bytes from, @Nullable Bytes toExclusive, boolean reverse) {
    NavigableMap<Bytes, Bytes> part;
    if (toExclusive == null) {
      part = map(space).tailMap(from, true);
    } else if (toExclusive.compareTo(from) <= 0) {
      part = new TreeMap<>();
    } else {
      part = map(space).subMap(from, true, toExclusive, false);
    }
    TreeMap<Bytes, Bytes> frozen = new TreeMap<>(part);
    return new MapCursor(reverse ? frozen.descendingMap() : frozen);
  }

  @Override
  public synchronized void write(StoreBatch batch) {
    for (StoreBatch.Change change : batch.changes()) {
      Bytes value = change.value();
      Bytes old =
          value == null
              ? map(change.space()).remove(change.key())
              : map(change.space()).put(change.key(), value);
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

  private NavigableMap<Bytes, Bytes> map(Space space) {
    NavigableMap<Bytes, Bytes> map = spaces.get(space);
    if (map == null) {
      throw new StoreException("no space " + space);
    }
    return map;
  }

  private static final class MapCursor implements Cursor {
    private final NavigableMap<Bytes, Bytes> view;
    private Iterator<Map.Entry<Bytes, Bytes>> rest;
    private Map.@Nullable Entry<Bytes, Bytes> current;

    MapCursor(NavigableMap<Bytes, Bytes> view) {
      this.view = view;
      this.rest = view.entrySet().iterator();
    }

    @Override
    public boolean next() {
      current = rest.hasNext() ? rest.next() : null;
      return current != null;
    }

    @Override
    public boolean seek(Bytes key) {
      rest = view.tailMap(key, true).entrySet().iterator();
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
        throw new IllegalStateException("the cursor stands on no record");
      }
      return current;
    }

    @Override
    public void close() {}
  }
}
