package io.troupe.watch;

import io.troupe.model.KeyRange;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The rules of the watch hub. Receives every committed change once, in revision order, and passes
 * it to the streams whose watchers are in sync. Never waits for a stream: a watcher that cannot
 * keep up leaves, reads history, and joins again. One thread.
 *
 * @param <S> identifies a stream; distinguished by equals and hashCode
 */
public final class WatchHubCore<S> {
  /**
   * A watcher as the hub knows it.
   *
   * @param serial counts the watchers of a stream; unlike a watch id it is never reused
   */
  private record Watcher<S>(S stream, long serial) {}

  private final WatchHubEffects<S> effects;
  private final SyncedWatchers<Watcher<S>> synced = new SyncedWatchers<>();
  private final Map<S, Set<Watcher<S>>> byStream = new HashMap<>();
  private long revision;

  /**
   * Starts without streams.
   *
   * @param revision of the state, before anything further is applied
   */
  public WatchHubCore(long revision, WatchHubEffects<S> effects) {
    this.revision = revision;
    this.effects = effects;
  }

  /** Last revision that was processed. */
  public long revision() {
    return revision;
  }

  /** Number of watchers that receive live events. */
  public int syncedCount() {
    return synced.size();
  }

  /** A stream was opened. */
  public void opened(S stream) {
    byStream.put(stream, new HashSet<>());
  }

  /** A stream has stopped. */
  public void stopped(S stream) {
    Set<Watcher<S>> left = byStream.remove(stream);
    if (left != null) {
      left.forEach(synced::remove);
    }
  }

  /**
   * The watcher has read all events before {@code nextRevision} and requests live events from there
   * on.
   */
  public void join(S stream, long serial, KeyRange range, long nextRevision) {
    Set<Watcher<S>> ofStream = byStream.get(stream);
    if (ofStream == null) {
      return;
    }
    if (nextRevision <= revision) {
      effects.lagging(stream, serial);
      return;
    }
    Watcher<S> watcher = new Watcher<>(stream, serial);
    synced.add(watcher, range, nextRevision);
    ofStream.add(watcher);
    effects.joined(stream, serial);
  }

  /** The watcher stops receiving live events. */
  public void leave(S stream, long serial) {
    leave(new Watcher<>(stream, serial));
  }

  private void leave(Watcher<S> watcher) {
    synced.remove(watcher);
    Set<Watcher<S>> ofStream = byStream.get(watcher.stream());
    if (ofStream != null) {
      ofStream.remove(watcher);
    }
  }

  /** Changes are visible to readers now; revisions that were processed before are ignored. */
  public void committed(List<Commit> commits) {
    for (Commit commit : commits) {
      if (commit.revision() > revision) {
        KeyRange unlisted = commit.unlisted();
        if (unlisted != null) {
          deliver();
          leaveToHistory(commit.revision(), commit.revision(), unlisted);
        }
        revision = commit.revision();
        commit.events().forEach(synced::collect);
      }
    }
    deliver();
  }

  /**
   * Changes are visible to readers now, and were not passed on.
   *
   * @param first revision, inclusive
   * @param last revision, inclusive
   * @param keys contains every changed key
   */
  public void missed(long first, long last, KeyRange keys) {
    if (last > revision) {
      leaveToHistory(Math.max(first, revision + 1), last, keys);
      revision = last;
    }
  }

  private void deliver() {
    Map<S, List<Delivery>> out = new LinkedHashMap<>();
    synced.drain(
        (watcher, events) ->
            out.computeIfAbsent(watcher.stream(), stream -> new ArrayList<>())
                .add(new Delivery(watcher.serial(), events)));
    out.forEach((stream, deliveries) -> effects.deliver(stream, revision, deliveries));
  }

  /**
   * The watchers that may have events in these revisions read them from history, as lagging
   * watchers do.
   */
  private void leaveToHistory(long first, long last, KeyRange keys) {
    Map<S, List<Long>> byOwner = new LinkedHashMap<>();
    for (Watcher<S> watcher : synced.overlapping(keys, last)) {
      leave(watcher);
      byOwner.computeIfAbsent(watcher.stream(), s -> new ArrayList<>()).add(watcher.serial());
    }
    byOwner.forEach((stream, serials) -> effects.readFromHistory(stream, serials, first));
  }
}
