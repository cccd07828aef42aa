package io.troupe.actors.member;

import io.troupe.actors.peers.PeerBacklog;
import io.troupe.actors.raft.UnavailableRaftBehavior;
import io.troupe.actors.snapshot.TransferCommand;
import io.troupe.model.Refusal;
import io.troupe.protocol.ApplyCommand;
import io.troupe.protocol.LeaseCommand;
import io.troupe.protocol.LeaseCommand.LeaseReply;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.WalCommand;
import io.troupe.protocol.WatchCommand;
import io.troupe.protocol.WatchStreamCommand;
import org.apache.pekko.Done;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Actors that take the place of the real ones while these are closed. They refuse all client
 * requests.
 */
final class UnavailableActors {
  private UnavailableActors() {}

  static MemberRefs.Open spawn(ActorContext<?> context) {
    ActorRef<WatchStreamCommand> stream = context.spawn(stream(), "closed-stream");
    return new MemberRefs.Open(
        CurrentStateReader.closed(),
        context.spawn(UnavailableRaftBehavior.create(), "closed-raft"),
        context.spawn(Behaviors.<WalCommand>ignore(), "closed-wal"),
        context.spawn(Behaviors.<ApplyCommand>ignore(), "closed-apply"),
        context.spawn(lease(), "closed-lease"),
        context.spawn(watch(stream), "closed-watch"),
        context.spawn(Behaviors.<SnapshotCommand>ignore(), "closed-snapshot"),
        context.spawn(Behaviors.<TransferCommand>ignore(), "closed-transfers"),
        new PeerBacklog(0, sender -> false),
        new PeerBacklog(0, sender -> false));
  }

  private static Behavior<LeaseCommand> lease() {
    LeaseReply refused = new LeaseReply.Failed(Refusal.NO_LEADER);
    return Behaviors.receiveMessage(
        command -> {
          if (command instanceof LeaseCommand.KeepAlive keepAlive) {
            keepAlive.replyTo().tell(refused);
          } else if (command instanceof LeaseCommand.TimeToLive timeToLive) {
            timeToLive.replyTo().tell(refused);
          } else if (command instanceof LeaseCommand.ListLeases list) {
            list.replyTo().tell(refused);
          }
          return Behaviors.same();
        });
  }

  private static Behavior<WatchCommand> watch(ActorRef<WatchStreamCommand> stream) {
    return Behaviors.receiveMessage(
        command -> {
          if (command instanceof WatchCommand.OpenStream open) {
            open.replyTo().tell(stream);
          }
          return Behaviors.same();
        });
  }

  /** A stream that fails on its first read. */
  private static Behavior<WatchStreamCommand> stream() {
    return Behaviors.receiveMessage(
        command -> {
          if (command instanceof WatchStreamCommand.Next next) {
            next.replies().completeExceptionally(new RefusedException(Refusal.NO_LEADER));
          } else if (command instanceof WatchStreamCommand.Create create) {
            create.replyTo().tell(Done.getInstance());
          } else if (command instanceof WatchStreamCommand.Cancel cancel) {
            cancel.replyTo().tell(Done.getInstance());
          } else if (command instanceof WatchStreamCommand.RequestProgress progress) {
            progress.replyTo().tell(Done.getInstance());
          }
          return Behaviors.same();
        });
  }
}
