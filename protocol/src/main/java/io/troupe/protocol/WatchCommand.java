package io.troupe.protocol;

import io.troupe.model.MemoryBudget;
import io.troupe.watch.Commit;
import io.troupe.watch.EventBacklog;
import io.troupe.watch.MissedRevisions;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;

/** Messages to the watch hub. */
public sealed interface WatchCommand {
  /**
   * A client opened a stream. The reply is the actor that serves it.
   *
   * @param memory counts the events that wait for the client; the sender closes it when the stream
   *     has ended
   */
  record OpenStream(MemoryBudget.Share memory, ReplyTo<ActorRef<WatchStreamCommand>> replyTo)
      implements WatchCommand {}

  /**
   * Changes that are visible to readers now.
   *
   * @param revisions in order, without repeats
   * @param memory memory of their events; the receiver releases it after it handled this message
   */
  record Committed(List<Commit> revisions, EventBacklog.Lot memory) implements WatchCommand {}

  /** Changes that are visible to readers now, and that watchers read from history. */
  record Missed(MissedRevisions revisions) implements WatchCommand {}

  /**
   * Permissions changed: closes watchers that may not read their keys any more, before later
   * changes.
   */
  enum RightsChanged implements WatchCommand {
    /** The only instance. */
    INSTANCE
  }

  /** Internal messages: timers, stream actors and adapted replies. */
  non-sealed interface Private extends WatchCommand {}
}
