package io.troupe.protocol;

import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.MemoryBudget;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;

/** What the watch hub takes. */
public sealed interface WatchCommand {
  /**
   * A client opened a stream. Answered with the actor that serves it.
   *
   * @param memory counts what waits for the client; closed by the sender when the stream has ended
   */
  record OpenStream(MemoryBudget.Share memory, ActorRef<ActorRef<WatchStreamCommand>> replyTo)
      implements WatchCommand {}

  /**
   * Changes that readers can see now.
   *
   * @param revisions in order, without repeats
   * @param memory of their events; released by the receiver when it has handled this message
   */
  record Committed(List<Commit> revisions, EventBacklog.Lot memory) implements WatchCommand {}

  /** Changes that readers can see now, and that watchers read from history. */
  record Missed(MissedRevisions revisions) implements WatchCommand {}

  /**
   * All changes of one revision.
   *
   * @param events in the order in which they were made; empty if {@code unlisted} is set
   * @param unlisted null unless the events are too large to keep: then a range that holds all
   *     changed keys, and watchers of any of them read the revision from history
   */
  record Commit(long revision, List<Event> events, @Nullable KeyRange unlisted) {
    /** Of a revision whose events are all listed. */
    public Commit(long revision, List<Event> events) {
      this(revision, events, null);
    }
  }

  /** Rights changed: watchers that may not see their keys any more end. Before later changes. */
  enum RightsChanged implements WatchCommand {
    /** The only one. */
    INSTANCE
  }

  /** Only the owner's timers, its stream actors and adapted replies. */
  non-sealed interface Private extends WatchCommand {}
}
