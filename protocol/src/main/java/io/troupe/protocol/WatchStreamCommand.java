package io.troupe.protocol;

import io.troupe.model.KeyRange;
import io.troupe.watch.EventFilter;
import io.troupe.watch.WatchRequest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.Done;
import org.jspecify.annotations.Nullable;

/** Messages to the actor of one watch stream. */
public sealed interface WatchStreamCommand {
  /**
   * Opens a watcher (W1-W5).
   *
   * @param watchId as the client requested; 0 lets the server choose
   * @param startRevision 0 for changes after now
   * @param right checks that the client may read these keys; called when the watcher is created and
   *     whenever permissions change
   * @param replyTo receives a reply when the request was accepted: then the next may be sent
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
      ReplyTo<Done> replyTo)
      implements WatchStreamCommand, WatchRequest {
    @Override
    public @Nullable String denied() {
      return right.refusal(range);
    }
  }

  /** Cancels a watcher (W13). */
  record Cancel(long watchId, ReplyTo<Done> replyTo) implements WatchStreamCommand {}

  /** Queries the progress of the stream (W16). */
  record RequestProgress(ReplyTo<Done> replyTo) implements WatchStreamCommand {}

  /**
   * The client can receive more. The future completes with at least one reply, in order; it stays
   * open while there is none, and fails when this side closes the stream. At most one is open at a
   * time.
   */
  record Next(CompletableFuture<List<WatchReply>> replies) implements WatchStreamCommand {}

  /** The client disconnected. */
  enum Close implements WatchStreamCommand {
    /** The only instance. */
    INSTANCE
  }

  /** Permissions changed: see {@link Create#right}. */
  enum RightsChanged implements WatchStreamCommand {
    /** The only instance. */
    INSTANCE
  }

  /** Internal messages: timers, the hub and adapted replies. */
  non-sealed interface Private extends WatchStreamCommand {}
}
