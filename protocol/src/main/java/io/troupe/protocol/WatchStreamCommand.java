package io.troupe.protocol;

import io.troupe.model.KeyRange;
import io.troupe.watch.EventFilter;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.Done;
import org.apache.pekko.actor.typed.ActorRef;

/** What the actor of one watch stream takes. */
public sealed interface WatchStreamCommand {
  /**
   * Opens a watcher (W1-W5).
   *
   * @param watchId as the client gave it; 0 lets the server choose
   * @param startRevision 0 for what comes after now
   * @param right whether the client may see these keys; asked when the watcher is made and whenever
   *     rights change
   * @param replyTo told when the request was taken: the next may come
   */
  record Create(
      KeyRange range,
      long watchId,
      long startRevision,
      EventFilter filter,
      boolean prevKv,
      boolean progressNotify,
      boolean fragment,
      WatchRight right,
      ActorRef<Done> replyTo)
      implements WatchStreamCommand {}

  /** Ends a watcher (W13). */
  record Cancel(long watchId, ActorRef<Done> replyTo) implements WatchStreamCommand {}

  /** Asks how far the stream is (W16). */
  record RequestProgress(ActorRef<Done> replyTo) implements WatchStreamCommand {}

  /**
   * The client can take more. The future completes with at least one reply, in order; it stays open
   * while there is none, and fails when the stream ends from this side. At most one is open at a
   * time.
   */
  record Next(CompletableFuture<List<WatchReply>> replies) implements WatchStreamCommand {}

  /** The client went away. */
  enum Close implements WatchStreamCommand {
    /** The only one. */
    INSTANCE
  }

  /** Rights changed: see {@link Create#right}. */
  enum RightsChanged implements WatchStreamCommand {
    /** The only one. */
    INSTANCE
  }

  /** Only the owner's timers, the hub and adapted replies. */
  non-sealed interface Private extends WatchStreamCommand {}
}
