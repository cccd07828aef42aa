package io.troupe.actors.watch;

import io.troupe.model.KeyRange;
import io.troupe.protocol.ReplyTo;
import io.troupe.protocol.WatchCommand;
import io.troupe.protocol.WatchStreamCommand;
import io.troupe.watch.Delivery;
import java.util.List;
import org.apache.pekko.Done;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;

/** Messages between the hub and its stream actors. */
final class HubMessage {
  private HubMessage() {}

  /**
   * A watcher as the hub knows it.
   *
   * @param serial counts the watchers of a stream; unlike a watch id it is never reused
   */
  record Watcher(ActorRef<WatchStreamCommand> stream, long serial) {}

  /**
   * The watcher has read all events before {@code nextRevision} and requests live events from there
   * on.
   */
  record Join(Watcher watcher, KeyRange range, long nextRevision) implements WatchCommand.Private {}

  /** The watcher stops receiving live events. */
  record Leave(Watcher watcher) implements WatchCommand.Private {}

  /**
   * Requests {@link Revision}.
   *
   * @param client sender of a client's request; null if the stream itself requests it
   */
  record AskRevision(ActorRef<WatchStreamCommand> stream, @Nullable ReplyTo<Done> client)
      implements WatchCommand.Private {}

  /**
   * Requests {@link Handled}. A client's request made the stream send messages to the hub, and the
   * next request waits until the hub has handled them.
   */
  record AskHandled(ActorRef<WatchStreamCommand> stream, ReplyTo<Done> client)
      implements WatchCommand.Private {}

  /** The stream has stopped. */
  record StreamStopped(ActorRef<WatchStreamCommand> stream) implements WatchCommand.Private {}

  /** From here on the watcher receives live events; none was missed. */
  record Joined(long serial) implements WatchStreamCommand.Private {}

  /** The hub has published later revisions: the watcher must read them from history first. */
  record Lagging(long serial) implements WatchStreamCommand.Private {}

  /**
   * Last revision that the hub has processed. All deliveries up to it precede this message.
   *
   * @param client as in the request
   */
  record Revision(long revision, @Nullable ReplyTo<Done> client)
      implements WatchStreamCommand.Private {}

  /** The hub has handled all messages that the stream sent before its request. */
  record Handled(ReplyTo<Done> client) implements WatchStreamCommand.Private {}

  /**
   * Live events, in revision order.
   *
   * @param revision last revision that the hub has processed; all events up to it are in this or an
   *     earlier message
   */
  record Deliver(long revision, List<Delivery> deliveries) implements WatchStreamCommand.Private {}

  /**
   * The events of a revision are too large to be delivered. These watchers read them from history
   * and no longer receive live events.
   *
   * @param revision every event before it was delivered
   */
  record ReadFromHistory(List<Long> serials, long revision) implements WatchStreamCommand.Private {}
}
