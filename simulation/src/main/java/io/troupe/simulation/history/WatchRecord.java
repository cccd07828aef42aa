package io.troupe.simulation.history;

import io.troupe.model.KeyRange;
import io.troupe.watch.EventFilter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** One watcher: its request and its replies, in order. Grows while the watcher is open. */
public final class WatchRecord {
  /**
   * The request of a watcher.
   *
   * @param startRevision first requested revision; 0 is the next one
   */
  public record Asked(
      KeyRange range,
      long startRevision,
      EventFilter filter,
      boolean prevKv,
      boolean fragment,
      boolean progressNotify) {}

  private final Asked asked;
  private final List<WatchReply> replies = new ArrayList<>();

  /** Creates a watcher without replies. */
  public WatchRecord(Asked asked) {
    this.asked = asked;
  }

  /** What was asked for. */
  public Asked asked() {
    return asked;
  }

  /** Adds a reply. */
  public void add(WatchReply reply) {
    replies.add(reply);
  }

  /** All replies, in order; a live view. */
  public List<WatchReply> replies() {
    return Collections.unmodifiableList(replies);
  }

  /** True after the cancellation by compaction. */
  public boolean isCanceled() {
    return !replies.isEmpty() && replies.get(replies.size() - 1) instanceof WatchReply.Canceled;
  }

  /**
   * First revision that was not received and still can be: after the last event or bookmark, at the
   * compacted revision of a cancellation, or the start.
   */
  public long nextRevision() {
    long next = asked.startRevision();
    for (int i = replies.size() - 1; i >= 0; i--) {
      WatchReply reply = replies.get(i);
      if (reply instanceof WatchReply.Events events) {
        return Math.max(
            next, events.events().get(events.events().size() - 1).kv().modRevision() + 1);
      } else if (reply instanceof WatchReply.Progress progress) {
        return Math.max(next, progress.revision() + 1);
      } else if (reply instanceof WatchReply.Canceled canceled) {
        return Math.max(next, canceled.compactRevision());
      } else if (reply instanceof WatchReply.Created created && next == 0) {
        next = created.revision() + 1;
      }
    }
    return next;
  }
}
