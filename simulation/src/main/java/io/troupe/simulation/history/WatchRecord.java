package io.troupe.simulation.history;

import io.troupe.model.KeyRange;
import io.troupe.watch.EventFilter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** One watcher: what it asked for and what it was told, in order. Grows while the watcher lives. */
public final class WatchRecord {
  /**
   * What was asked for.
   *
   * @param startRevision first revision wanted; 0 is whatever comes next
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

  /** A watcher that was told nothing yet. */
  public WatchRecord(Asked asked) {
    this.asked = asked;
  }

  /** What was asked for. */
  public Asked asked() {
    return asked;
  }

  /** Something came. */
  public void add(WatchReply reply) {
    replies.add(reply);
  }

  /** All that came, in order; a live view. */
  public List<WatchReply> replies() {
    return Collections.unmodifiableList(replies);
  }

  /** True after the cancellation by compaction. */
  public boolean isCanceled() {
    return !replies.isEmpty() && replies.get(replies.size() - 1) instanceof WatchReply.Canceled;
  }

  /**
   * First revision that was not told and still can be: behind the last event or bookmark, where the
   * compaction ended by which it was cancelled, or the start.
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
