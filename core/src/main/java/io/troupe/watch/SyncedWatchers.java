package io.troupe.watch;

import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.SharedEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * The watchers that receive live events: each has received every event up to the hub's revision.
 * One thread.
 *
 * @param <W> handle of a watcher; distinguished by equals and hashCode
 */
public final class SyncedWatchers<W> {
  private static final class Entry<W> {
    final W watcher;
    final KeyRange range;
    final long nextRevision;

    /** Events since the last {@link #drain}. */
    List<SharedEvent> collected = new ArrayList<>(1);

    Entry(W watcher, KeyRange range, long nextRevision) {
      this.watcher = watcher;
      this.range = range;
      this.nextRevision = nextRevision;
    }
  }

  private final Map<W, Entry<W>> byWatcher = new LinkedHashMap<>();
  private final Map<Bytes, Set<Entry<W>>> points = new HashMap<>();
  private final IntervalIndex<Entry<W>> ranges = new IntervalIndex<>();

  /** Watchers with collected events, in the order of their first one. */
  private final List<Entry<W>> collecting = new ArrayList<>();

  /**
   * Adds a watcher.
   *
   * @param nextRevision first revision it needs; it does not get events below it (W3)
   * @throws IllegalArgumentException if it was already added, or the range is empty
   */
  public void add(W watcher, KeyRange range, long nextRevision) {
    if (byWatcher.containsKey(watcher) || range.isEmpty()) {
      throw new IllegalArgumentException("watcher " + watcher + " of " + range + " cannot join");
    }
    Entry<W> entry = new Entry<>(watcher, range, nextRevision);
    byWatcher.put(watcher, entry);
    if (range.isSingle()) {
      points.computeIfAbsent(range.key(), key -> new LinkedHashSet<>()).add(entry);
    } else {
      ranges.add(range, entry);
    }
  }

  /** Removes a watcher; false if it is unknown. */
  public boolean remove(W watcher) {
    Entry<W> entry = byWatcher.remove(watcher);
    if (entry == null) {
      return false;
    }
    if (!entry.range.isSingle()) {
      ranges.remove(entry.range, entry);
      return true;
    }
    Set<Entry<W>> same = points.get(entry.range.key());
    if (same != null && same.remove(entry) && same.isEmpty()) {
      points.remove(entry.range.key());
    }
    return true;
  }

  /**
   * Collects an event for every watcher that gets it, until {@link #drain}. No watcher may be added
   * or removed in between.
   */
  public void collect(Event event) {
    SharedEvent shared = new SharedEvent(event);
    long revision = event.kv().modRevision();
    Consumer<Entry<W>> due =
        entry -> {
          if (entry.nextRevision <= revision) {
            if (entry.collected.isEmpty()) {
              collecting.add(entry);
            }
            entry.collected.add(shared);
          }
        };
    Set<Entry<W>> same = points.get(event.kv().key());
    if (same != null) {
      same.forEach(due);
    }
    ranges.forEachAt(event.kv().key(), due);
  }

  /** Passes the collected events of each watcher to {@code each}, in the order of collection. */
  public void drain(BiConsumer<? super W, List<SharedEvent>> each) {
    for (Entry<W> entry : collecting) {
      List<SharedEvent> events = entry.collected;
      entry.collected = new ArrayList<>(1);
      each.accept(entry.watcher, events);
    }
    collecting.clear();
  }

  /** The watchers that may get an event of a key in {@code range} at {@code revision}. */
  public List<W> overlapping(KeyRange range, long revision) {
    List<W> found = new ArrayList<>();
    for (Entry<W> entry : byWatcher.values()) {
      if (entry.nextRevision <= revision && overlap(entry.range, range)) {
        found.add(entry.watcher);
      }
    }
    return found;
  }

  private static boolean overlap(KeyRange one, KeyRange other) {
    return beginsBeforeEndOf(one, other) && beginsBeforeEndOf(other, one);
  }

  private static boolean beginsBeforeEndOf(KeyRange one, KeyRange other) {
    Bytes end = other.toExclusive();
    return end == null || one.key().compareTo(end) < 0;
  }

  /** Number of watchers. */
  public int size() {
    return byWatcher.size();
  }
}
