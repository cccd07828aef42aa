package io.troupe.simulation.world;

import io.troupe.model.KeyRange;
import io.troupe.watch.Commit;
import io.troupe.watch.Delivery;
import io.troupe.watch.EventBacklog;
import io.troupe.watch.MissedRevisions;
import io.troupe.watch.WatchHubCore;
import io.troupe.watch.WatchHubEffects;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Runs {@link WatchHubCore}. */
final class WatchHub implements WatchHubEffects<WatchStream> {
  private final MemberRun run;
  private final SimActor actor;
  private final WatchHubCore<WatchStream> core;
  private final Set<WatchStream> streams = new LinkedHashSet<>();

  /** Memory of the commits that are being handled. */
  private EventBacklog.@Nullable Lot memory;

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

  /** The client closed the stream, or it cannot continue. */
  void stopped(WatchStream stream) {
    streams.remove(stream);
    actor.tell(
        () -> {
          stream.unhandled().releaseAll();
          core.stopped(stream);
        });
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

  /** Revisions are visible to readers now. */
  void committed(List<Commit> commits, EventBacklog.Lot lot) {
    actor.tell(
        () -> {
          memory = lot;
          core.committed(commits);
          memory = null;
          lot.release();
        });
  }

  /** Revisions are visible to readers now, and watchers read them from history. */
  void missed(MissedRevisions revisions) {
    actor.tell(
        () -> {
          MissedRevisions.Span span = revisions.take();
          core.missed(span.first(), span.last(), span.keys());
        });
  }

  // ---- effects

  @Override
  public void deliver(WatchStream stream, long revision, List<Delivery> deliveries) {
    EventBacklog.Lot lot = memory;
    if (lot != null) {
      stream.unhandled().add(lot, deliveries);
      stream.deliver(revision, deliveries);
    }
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
