package io.troupe.simulation.world;

import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.watch.Commit;
import io.troupe.watch.Delivery;
import io.troupe.watch.WatchHubCore;
import io.troupe.watch.WatchHubEffects;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Runs {@link WatchHubCore}. */
final class WatchHub implements WatchHubEffects<WatchStream> {
  private final MemberRun run;
  private final SimActor actor;
  private final WatchHubCore<WatchStream> core;
  private final Set<WatchStream> streams = new LinkedHashSet<>();

  WatchHub(MemberRun run) {
    this.run = run;
    this.actor = run.actor();
    this.core = new WatchHubCore<>(run.apply.machine().reader().view().revision(), this);
  }

  WatchStream open(WatchSink sink) {
    WatchStream stream = new WatchStream(run, this, sink);
    streams.add(stream);
    actor.tell(() -> core.opened(stream));
    return stream;
  }

  /** The process stops: breaks the streams of all clients. */
  void breakStreams() {
    List<WatchStream> all = List.copyOf(streams);
    streams.clear();
    all.forEach(WatchStream::breakOff);
  }

  // ---- messages

  void close(WatchStream stream) {
    streams.remove(stream);
    actor.tell(() -> core.stopped(stream));
  }

  void join(WatchStream stream, long serial, KeyRange range, long nextRevision) {
    actor.tell(() -> core.join(stream, serial, range, nextRevision));
  }

  void leave(WatchStream stream, long serial) {
    actor.tell(() -> core.leave(stream, serial));
  }

  void askRevision(WatchStream stream, Runnable client) {
    actor.tell(() -> stream.revision(core.revision(), client));
  }

  void askRevision(WatchStream stream) {
    actor.tell(() -> stream.revision(core.revision()));
  }

  void askHandled(WatchStream stream, Runnable client) {
    actor.tell(() -> stream.handled(client));
  }

  /** Revisions are visible to readers now. Some of them count as too large to be listed. */
  void committed(List<Commit> commits) {
    List<Commit> sent = new ArrayList<>();
    for (Commit commit : commits) {
      boolean large = run.random.nextInt(60) == 0;
      run.world.coverage().count("revisions that watchers read from history", large ? 1 : 0);
      sent.add(large ? new Commit(commit.revision(), List.of(), keys(commit)) : commit);
    }
    boolean missed = run.random.nextInt(60) == 0;
    if (missed) {
      run.world.coverage().count("batches that the watch hub missed");
      sent.forEach(commit -> missed(commit.revision(), keys(commit)));
    } else {
      actor.tell(() -> core.committed(sent));
    }
  }

  private void missed(long revision, KeyRange keys) {
    actor.tell(() -> core.missed(revision, revision, keys));
  }

  private static KeyRange keys(Commit commit) {
    KeyRange unlisted = commit.unlisted();
    if (unlisted != null) {
      return unlisted;
    }
    TreeSet<Bytes> keys = new TreeSet<>();
    for (Event event : commit.events()) {
      keys.add(event.kv().key());
    }
    return new KeyRange(keys.first(), keys.last().successor());
  }

  // ---- effects

  @Override
  public void deliver(WatchStream stream, long revision, List<Delivery> deliveries) {
    stream.deliver(revision, deliveries);
  }

  @Override
  public void joined(WatchStream stream, long serial) {
    stream.joined(serial);
  }

  @Override
  public void lagging(WatchStream stream, long serial) {
    stream.lagging(serial);
  }

  @Override
  public void readFromHistory(WatchStream stream, List<Long> serials, long revision) {
    stream.readFromHistory(serials, revision);
  }
}
