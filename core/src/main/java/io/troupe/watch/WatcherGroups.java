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
 * All watchers of a member, each in one of two groups. A synced one has been given every event up
 * to the hub's revision and gets new ones by {@link #forEachMatch}; an unsynced one still reads
 * history and is named by {@link #nextUnsynced}. One thread.
 *
 * @param <W> handle of a watcher; equals and hashCode decide who it is
 */
public final class WatcherGroups<W> {
  /**
   * A watcher and where it stands.
   *
   * @param watcher its handle
   * @param range what it watches, not empty
   * @param nextRevision first revision it still needs; events below it are not for it
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
   * Takes in a watcher.
   *
   * @param nextRevision first revision it needs
   * @param currentRevision the hub's; the watcher is synced when it needs nothing up to it (W3)
   * @return true when it is synced
   * @throws IllegalArgumentException if it is here already, or the range is empty
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

  /** Forgets a watcher; false when it was not here. */
  public boolean remove(W watcher) {
    Entry<W> entry = byWatcher.remove(watcher);
    if (entry == null) {
      return false;
    }
    take(entry);
    return true;
  }

  /**
   * Notes how far a watcher has been given events, and groups it anew: one that read history up to
   * the hub's revision becomes synced, one that fell behind becomes unsynced.
   *
   * @return true when it is synced now; false also for an unknown one
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
   * Hands over every synced watcher that is to get an event of {@code key} at {@code revision}. The
   * groups must not be changed meanwhile.
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

  /** Where a watcher stands, or null when it is not here. */
  public @Nullable Place<W> find(W watcher) {
    Entry<W> entry = byWatcher.get(watcher);
    return entry == null ? null : entry.place();
  }

  /** True when a watcher is here and synced. */
  public boolean isSynced(W watcher) {
    Entry<W> entry = byWatcher.get(watcher);
    return entry != null && entry.synced;
  }

  /** Unsynced watchers, those that are furthest behind first, at most {@code max} (W8). */
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

  /** Removes and names the unsynced watchers that a compaction went past (W12). */
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
