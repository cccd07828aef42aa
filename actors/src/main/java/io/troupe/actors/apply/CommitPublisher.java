package io.troupe.actors.apply;

import io.troupe.machine.Applied;
import io.troupe.metrics.WatchMetrics;
import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.mvcc.RevisionChanges;
import io.troupe.protocol.EventBacklog;
import io.troupe.protocol.MissedRevisions;
import io.troupe.protocol.WatchCommand;
import io.troupe.watch.Commit;
import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;

/**
 * Publishes committed changes to the watch hub, within the memory of the event backlog. Never waits
 * for the hub. While the backlog is full, the hub receives only the missed revisions and their
 * keys, and its watchers read the events from history. Not thread-safe: owned by the apply actor.
 */
public final class CommitPublisher {
  /** Approximate memory of a revision besides its events. */
  private static final long COMMIT_BYTES = 128;

  private final ActorRef<WatchCommand> hub;
  private final EventBacklog backlog;
  private final WatchMetrics metrics;
  private final List<Commit> commits = new ArrayList<>();
  private long pendingBytes;

  /** The last message, if it reported missed revisions. */
  private @Nullable MissedRevisions missed;

  /**
   * A publisher for one hub.
   *
   * @param metrics counts the revisions that the hub missed
   */
  public CommitPublisher(ActorRef<WatchCommand> hub, EventBacklog backlog, WatchMetrics metrics) {
    this.hub = hub;
    this.backlog = backlog;
    this.metrics = metrics;
  }

  /** Adds the changes of an entry; entries that changed no key are ignored. */
  public void add(Applied applied) {
    RevisionChanges changes = applied.changes();
    if (!changes.isEmpty()) {
      commits.add(new Commit(applied.revision(), changes.events(), changes.unlisted()));
      pendingBytes += COMMIT_BYTES + (changes.events().isEmpty() ? 0 : changes.bytes());
    }
  }

  /** Approximate memory of the events that are not published yet. */
  long pendingBytes() {
    return pendingBytes;
  }

  /** Publishes the added changes. They are already visible to readers. */
  public void publish() {
    if (commits.isEmpty()) {
      return;
    }
    EventBacklog.Lot memory = backlog.tryTake(pendingBytes);
    if (memory != null) {
      hub.tell(new WatchCommand.Committed(List.copyOf(commits), memory));
      missed = null;
    } else {
      commits.forEach(this::miss);
      metrics.missed(commits.size());
    }
    commits.clear();
    pendingBytes = 0;
  }

  /** Publishes a change of permissions, before the changes of keys that are published next. */
  void publishRightsChanged() {
    hub.tell(WatchCommand.RightsChanged.INSTANCE);
    missed = null;
  }

  private void miss(Commit commit) {
    KeyRange keys = keys(commit);
    MissedRevisions last = missed;
    if (last == null || !last.add(commit.revision(), keys)) {
      MissedRevisions next = new MissedRevisions(commit.revision(), keys);
      missed = next;
      hub.tell(new WatchCommand.Missed(next));
    }
  }

  private static KeyRange keys(Commit commit) {
    KeyRange unlisted = commit.unlisted();
    if (unlisted != null) {
      return unlisted;
    }
    Bytes first = commit.events().get(0).kv().key();
    Bytes last = first;
    for (Event event : commit.events()) {
      Bytes key = event.kv().key();
      first = key.compareTo(first) < 0 ? key : first;
      last = key.compareTo(last) > 0 ? key : last;
    }
    return new KeyRange(first, last.successor());
  }
}
