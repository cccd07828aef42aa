package io.troupe.watch;

import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.SharedEvent;
import io.troupe.model.SharedEvents;
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
  /** The watchers of one range. They share the events that all of them get. */
  private static final class Group<W> {
    final KeyRange range;
    final Set<Entry<W>> entries = new LinkedHashSet<>();

    /** Events since the last {@link #drain}. */
    List<SharedEvent> collected = new ArrayList<>(1);

    Group(KeyRange range) {
      this.range = range;
    }
  }

  private static final class Entry<W> {
    final W watcher;
    final Group<W> group;
    final long nextRevision;

    Entry(W watcher, Group<W> group, long nextRevision) {
      this.watcher = watcher;
      this.group = group;
      this.nextRevision = nextRevision;
    }
  }

  private final Map<W, Entry<W>> byWatcher = new LinkedHashMap<>();

  /** Groups of one key each. Their keys are ordered, so keys of equal hash do not slow the map. */
  private final Map<Bytes, Group<W>> points = new HashMap<>();

  private final IntervalIndex<Group<W>> ranges = new IntervalIndex<>();

  /** Groups with collected events, in the order of their first one. */
  private final List<Group<W>> collecting = new ArrayList<>();

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
    Group<W> group = group(range);
    Entry<W> entry = new Entry<>(watcher, group, nextRevision);
    byWatcher.put(watcher, entry);
    group.entries.add(entry);
  }

  private Group<W> group(KeyRange range) {
    if (range.isSingle()) {
      return points.computeIfAbsent(range.key(), key -> new Group<>(range));
    }
    Group<W> group = ranges.get(range);
    if (group == null) {
      group = new Group<>(range);
      ranges.add(range, group);
    }
    return group;
  }

  /** Removes a watcher; false if it is unknown. */
  public boolean remove(W watcher) {
    Entry<W> entry = byWatcher.remove(watcher);
    if (entry == null) {
      return false;
    }
    Group<W> group = entry.group;
    group.entries.remove(entry);
    if (group.entries.isEmpty()) {
      if (group.range.isSingle()) {
        points.remove(group.range.key());
      } else {
        ranges.remove(group.range);
      }
    }
    return true;
  }

  /**
   * Collects an event for every watcher that gets it, until {@link #drain}. No watcher may be added
   * or removed in between.
   */
  public void collect(Event event) {
    SharedEvent shared = new SharedEvent(event);
    Consumer<Group<W>> due =
        group -> {
          if (group.collected.isEmpty()) {
            collecting.add(group);
          }
          group.collected.add(shared);
        };
    Group<W> same = points.get(event.kv().key());
    if (same != null) {
      due.accept(same);
    }
    ranges.forEachAt(event.kv().key(), due);
  }

  /**
   * Passes the collected events of each watcher to {@code each}; the watchers of a range one after
   * the other. A watcher that needs all of them shares them with the others of its range.
   */
  public void drain(BiConsumer<? super W, SharedEvents> each) {
    for (Group<W> group : collecting) {
      List<SharedEvent> events = group.collected;
      group.collected = new ArrayList<>(1);
      drain(group, events, each);
    }
    collecting.clear();
  }

  private static <W> void drain(
      Group<W> group, List<SharedEvent> events, BiConsumer<? super W, SharedEvents> each) {
    SharedEvents all =
        group.entries.size() > 1 ? SharedEvents.ofSeveral(events) : SharedEvents.ofOne(events);
    for (Entry<W> entry : group.entries) {
      if (revision(events.get(0)) >= entry.nextRevision) {
        each.accept(entry.watcher, all);
      } else if (revision(events.get(events.size() - 1)) >= entry.nextRevision) {
        List<SharedEvent> needed = new ArrayList<>();
        for (SharedEvent event : events) {
          if (revision(event) >= entry.nextRevision) {
            needed.add(event);
          }
        }
        each.accept(entry.watcher, SharedEvents.ofOne(needed));
      }
    }
  }

  private static long revision(SharedEvent event) {
    return event.event().kv().modRevision();
  }

  /** The watchers that may get an event of a key in {@code range} at {@code revision}. */
  public List<W> overlapping(KeyRange range, long revision) {
    List<W> found = new ArrayList<>();
    for (Entry<W> entry : byWatcher.values()) {
      if (entry.nextRevision <= revision && overlap(entry.group.range, range)) {
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
