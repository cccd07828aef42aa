package io.troupe.watch;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All watchers of a member, each in one of two groups. A synced watcher has received every event up
 * to the hub's revision, and {@link #forEachMatch} returns it for new events. An unsynced watcher
 * still reads history, and {@link #nextUnsynced} returns it. One thread.
 *
 * @param <W> handle of a watcher; distinguished by equals and hashCode
 */
public final class WatcherGroups<W> {
  /**
   * A watcher and its position.
   *
   * @param watcher its handle
   * @param range what it watches, not empty
   * @param nextRevision first revision it still needs; it does not get events below it
   */
  public record Place<W>(W watcher, KeyRange range, long nextRevision) {}

  private static final class Entry<W> {
    final W watcher;
    final KeyRange range;
    final long order;
    long nextRevision;
    boolean synced;

    Entry(W watcher, KeyRange range, long order, long nextRevision) {
      this.watcher = watcher;
      this.range = range;
      this.order = order;
      this.nextRevision = nextRevision;
    }

    Place<W> place() {
      return new Place<>(watcher, range, nextRevision);
    }
  }

  private final Map<W, Entry<W>> byWatcher = new HashMap<>();
  private final Map<Bytes, Set<Entry<W>>> points = new HashMap<>();
  private final IntervalIndex<Entry<W>> ranges = new IntervalIndex<>();
  private final TreeSet<Entry<W>> unsynced =
      new TreeSet<>(
          Comparator.comparingLong((Entry<W> e) -> e.nextRevision).thenComparingLong(e -> e.order));
  private long added;
  private int synced;

  /**
   * Adds a watcher.
   *
   * @param nextRevision first revision it needs
   * @param currentRevision revision of the hub; the watcher is synced if it needs no revision up to
   *     it (W3)
   * @return true if it is synced
   * @throws IllegalArgumentException if it was already added, or the range is empty
   */
  public boolean add(W watcher, KeyRange range, long nextRevision, long currentRevision) {
    if (byWatcher.containsKey(watcher) || range.isEmpty()) {
      throw new IllegalArgumentException("watcher " + watcher + " of " + range + " cannot join");
    }
    Entry<W> entry = new Entry<>(watcher, range, added++, nextRevision);
    byWatcher.put(watcher, entry);
    place(entry, WatchRules.isSynced(nextRevision, currentRevision));
    return entry.synced;
  }

  /** Removes a watcher; false if it is unknown. */
  public boolean remove(W watcher) {
    Entry<W> entry = byWatcher.remove(watcher);
    if (entry == null) {
      return false;
    }
    take(entry);
    return true;
  }

  /**
   * Records up to which revision a watcher has received events, and moves it to the matching group:
   * a watcher that read history up to the hub's revision becomes synced, a watcher that lags
   * becomes unsynced.
   *
   * @return true if it is synced now; false also for an unknown watcher
   */
  public boolean move(W watcher, long nextRevision, long currentRevision) {
    Entry<W> entry = byWatcher.get(watcher);
    if (entry == null) {
      return false;
    }
    boolean nowSynced = WatchRules.isSynced(nextRevision, currentRevision);
    if (entry.synced && nowSynced) {
      entry.nextRevision = nextRevision;
      return true;
    }
    take(entry);
    entry.nextRevision = nextRevision;
    place(entry, nowSynced);
    return nowSynced;
  }

  private void place(Entry<W> entry, boolean asSynced) {
    entry.synced = asSynced;
    if (!asSynced) {
      unsynced.add(entry);
      return;
    }
    synced++;
    if (entry.range.isSingle()) {
      points.computeIfAbsent(entry.range.key(), key -> new LinkedHashSet<>()).add(entry);
    } else {
      ranges.add(entry.range, entry);
    }
  }

  private void take(Entry<W> entry) {
    if (!entry.synced) {
      unsynced.remove(entry);
      return;
    }
    synced--;
    if (!entry.range.isSingle()) {
      ranges.remove(entry.range, entry);
      return;
    }
    Set<Entry<W>> same = points.get(entry.range.key());
    if (same != null && same.remove(entry) && same.isEmpty()) {
      points.remove(entry.range.key());
    }
  }

  /**
   * Passes every synced watcher that gets an event of {@code key} at {@code revision} to {@code
   * each}. The groups must not be changed meanwhile.
   */
  public void forEachMatch(Bytes key, long revision, Consumer<? super W> each) {
    Consumer<Entry<W>> due =
        entry -> {
          if (entry.nextRevision <= revision) {
            each.accept(entry.watcher);
          }
        };
    Set<Entry<W>> same = points.get(key);
    if (same != null) {
      same.forEach(due);
    }
    ranges.forEachAt(key, due);
  }

  /** The synced watchers that may get an event of a key in {@code range} at {@code revision}. */
  public List<W> overlapping(KeyRange range, long revision) {
    List<W> found = new ArrayList<>();
    for (Entry<W> entry : byWatcher.values()) {
      if (entry.synced && entry.nextRevision <= revision && overlap(entry.range, range)) {
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

  /** Position of a watcher, or null if it is unknown. */
  public @Nullable Place<W> find(W watcher) {
    Entry<W> entry = byWatcher.get(watcher);
    return entry == null ? null : entry.place();
  }

  /** True if the watcher is known and synced. */
  public boolean isSynced(W watcher) {
    Entry<W> entry = byWatcher.get(watcher);
    return entry != null && entry.synced;
  }

  /** At most {@code max} unsynced watchers, those that lag the most first (W8). */
  public List<Place<W>> nextUnsynced(int max) {
    List<Place<W>> next = new ArrayList<>(Math.min(max, unsynced.size()));
    for (Entry<W> entry : unsynced) {
      if (next.size() >= max) {
        break;
      }
      next.add(entry.place());
    }
    return next;
  }

  /** Removes and returns the unsynced watchers that need compacted revisions (W12). */
  public List<W> removeCompacted(long compactedRevision) {
    List<W> gone = new ArrayList<>();
    while (!unsynced.isEmpty()
        && WatchRules.isCancelledByCompaction(unsynced.first().nextRevision, compactedRevision)) {
      Entry<W> entry = unsynced.first();
      unsynced.remove(entry);
      byWatcher.remove(entry.watcher);
      gone.add(entry.watcher);
    }
    return gone;
  }

  /** Number of synced watchers. */
  public int syncedCount() {
    return synced;
  }

  /** Number of unsynced watchers. */
  public int unsyncedCount() {
    return unsynced.size();
  }
}
