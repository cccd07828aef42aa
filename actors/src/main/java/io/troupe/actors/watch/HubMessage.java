package io.troupe.actors.watch;

import io.troupe.model.KeyRange;
import io.troupe.protocol.SharedEvent;
import io.troupe.protocol.WatchCommand;
import io.troupe.protocol.WatchStreamCommand;
import java.util.List;
import org.apache.pekko.Done;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;

/** What the hub and its stream actors tell each other. */
final class HubMessage {
  private HubMessage() {}

  /**
   * A watcher as the hub knows it.
   *
   * @param serial counts the watchers of a stream: unlike a watch id it is never used again
   */
  record Watcher(ActorRef<WatchStreamCommand> stream, long serial) {}

  /** The watcher has read everything below {@code nextRevision} and wants the rest live. */
  record Join(Watcher watcher, KeyRange range, long nextRevision) implements WatchCommand.Private {}

  /** The watcher takes no more live events. */
  record Leave(Watcher watcher) implements WatchCommand.Private {}

  /**
   * Asks for {@link Revision}.
   *
   * @param client sender of a client's request; null if the stream asks by itself
   */
  record AskRevision(ActorRef<WatchStreamCommand> stream, @Nullable ActorRef<Done> client)
      implements WatchCommand.Private {}

  /**
   * Asks for {@link Handled}: a client's request made the stream send messages to the hub, and the
   * next request waits until the hub has handled them.
   */
  record AskHandled(ActorRef<WatchStreamCommand> stream, ActorRef<Done> client)
      implements WatchCommand.Private {}

  /** The stream is gone. */
  record StreamStopped(ActorRef<WatchStreamCommand> stream) implements WatchCommand.Private {}

  /** From here on the watcher gets live events; none was missed. */
  record Joined(long serial) implements WatchStreamCommand.Private {}

  /** The hub is further: there is history to read first. */
  record Behind(long serial) implements WatchStreamCommand.Private {}

  /**
   * How far the hub is. All deliveries up to it came before this message.
   *
   * @param client as in the question
   */
  record Revision(long revision, @Nullable ActorRef<Done> client)
      implements WatchStreamCommand.Private {}

  /** The hub has handled what the stream sent before it asked. */
  record Handled(ActorRef<Done> client) implements WatchStreamCommand.Private {}

  /**
   * Live events, in revision order.
   *
   * @param revision how far the hub is: nothing up to it is missing here or in what came before
   */
  record Deliver(long revision, List<Delivery> deliveries) implements WatchStreamCommand.Private {}

  /**
   * The events of a revision are too large to be delivered: these watchers read them from history,
   * and have been removed from those that get live events.
   *
   * @param revision every event before it was delivered
   */
  record ReadFromHistory(List<Long> serials, long revision) implements WatchStreamCommand.Private {}

  /** Events of one revision for one watcher, in order. */
  record Delivery(long serial, long revision, List<SharedEvent> events) {}
}
