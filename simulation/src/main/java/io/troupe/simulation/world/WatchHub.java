package io.troupe.simulation.world;

import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.watch.WatcherGroups;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Receives every committed revision once, in order, and passes it to streams whose watchers are in
 * sync.
 */
final class WatchHub {
  /** A watcher of a stream. */
  record Handle(WatchStream stream, long serial) {}

  /** Events of one revision for one watcher. */
  record Delivery(long serial, long revision, List<Event> events) {}

  private final MemberRun run;
  private final SimActor actor;
  private final WatcherGroups<Handle> synced = new WatcherGroups<>();
  private final Map<WatchStream, Set<Handle>> byStream = new LinkedHashMap<>();
  private long revision;

  WatchHub(MemberRun run) {
    this.run = run;
    this.actor = run.actor();
    this.revision = run.apply.machine().reader().view().revision();
  }

  WatchStream open(WatchSink sink) {
    WatchStream stream = new WatchStream(run, this, sink);
    byStream.put(stream, new LinkedHashSet<>());
    return stream;
  }

  /** The process stops: breaks the streams of all clients. */
  void breakStreams() {
    List<WatchStream> all = List.copyOf(byStream.keySet());
    byStream.clear();
    all.forEach(WatchStream::breakOff);
  }

  // ---- messages

  void close(WatchStream stream) {
    actor.tell(
        () -> {
          Set<Handle> left = byStream.remove(stream);
          if (left != null) {
            left.forEach(synced::remove);
          }
        });
  }

  void join(Handle watcher, KeyRange range, long nextRevision) {
    actor.tell(
        () -> {
          Set<Handle> ofStream = byStream.get(watcher.stream());
          if (ofStream == null) {
            return;
          }
          if (nextRevision <= revision) {
            watcher.stream().lagging(watcher.serial());
            return;
          }
          synced.add(watcher, range, nextRevision, revision);
          ofStream.add(watcher);
          watcher.stream().joined(watcher.serial());
        });
  }

  void leave(Handle watcher) {
    actor.tell(
        () -> {
          synced.remove(watcher);
          Set<Handle> ofStream = byStream.get(watcher.stream());
          if (ofStream != null) {
            ofStream.remove(watcher);
          }
        });
  }

  void askRevision(WatchStream stream, boolean manual) {
    actor.tell(() -> stream.revision(revision, manual));
  }

  void committed(List<SimApplyActor.Commit> commits) {
    actor.tell(
        () -> {
          Map<WatchStream, List<Delivery>> out = new LinkedHashMap<>();
          for (SimApplyActor.Commit commit : commits) {
            if (commit.revision() > revision) {
              revision = commit.revision();
              match(commit, out);
            }
          }
          out.forEach(WatchStream::deliver);
        });
  }

  private void match(SimApplyActor.Commit commit, Map<WatchStream, List<Delivery>> out) {
    Map<Handle, List<Event>> matched = new LinkedHashMap<>();
    for (Event event : commit.events()) {
      synced.forEachMatch(
          event.kv().key(),
          commit.revision(),
          watcher -> matched.computeIfAbsent(watcher, w -> new ArrayList<>(1)).add(event));
    }
    matched.forEach(
        (watcher, events) ->
            out.computeIfAbsent(watcher.stream(), stream -> new ArrayList<>())
                .add(new Delivery(watcher.serial(), commit.revision(), events)));
  }

  /**
   * The state came from a snapshot, so the hub never received the events of some revisions.
   * Watchers that need them read them from history, from their position.
   */
  void replaced(long now) {
    actor.tell(
        () -> {
          long before = revision;
          revision = now;
          byStream.forEach(
              (stream, watchers) -> {
                for (Handle watcher : List.copyOf(watchers)) {
                  WatcherGroups.Place<Handle> place = synced.find(watcher);
                  if (place != null && place.nextRevision() <= now) {
                    synced.remove(watcher);
                    watchers.remove(watcher);
                    run.world.coverage().count("watchers lagging after a snapshot");
                    stream.removedFromHub(watcher.serial(), before + 1);
                  }
                }
              });
        });
  }
}
