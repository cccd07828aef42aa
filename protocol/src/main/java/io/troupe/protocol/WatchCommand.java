package io.troupe.protocol;

import io.troupe.model.Event;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;

/** What the watch hub takes. */
public sealed interface WatchCommand {
  /** A client opened a stream. Answered with the actor that serves it. */
  record OpenStream(ActorRef<ActorRef<WatchStreamCommand>> replyTo) implements WatchCommand {}

  /**
   * Changes that readers can see now.
   *
   * @param revisions in order, without repeats
   */
  record Committed(List<Commit> revisions) implements WatchCommand {}

  /**
   * All changes of one revision.
   *
   * @param events in the order in which they were made
   */
  record Commit(long revision, List<Event> events) {}

  /** Rights changed: watchers that may not see their keys any more end. Before later changes. */
  enum RightsChanged implements WatchCommand {
    /** The only one. */
    INSTANCE
  }

  /** Only the owner's timers, its stream actors and adapted replies. */
  non-sealed interface Private extends WatchCommand {}
}
