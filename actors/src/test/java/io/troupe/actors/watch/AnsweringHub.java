package io.troupe.actors.watch;

import io.troupe.protocol.WatchCommand;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/** Handles the messages of streams immediately, and forwards them to a test. */
final class AnsweringHub {
  private AnsweringHub() {}

  static Behavior<WatchCommand> create(ActorRef<WatchCommand> test) {
    return Behaviors.receiveMessage(
        message -> {
          if (message instanceof HubMessage.AskHandled ask) {
            ask.stream().tell(new HubMessage.Handled(ask.client()));
          } else {
            test.tell(message);
          }
          return Behaviors.same();
        });
  }
}
