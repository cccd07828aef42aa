package io.troupe.actors.wal;

import io.troupe.persistence.wal.Wal;
import io.troupe.protocol.PeerTransport;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.WalCommand;
import io.troupe.raft.Outgoing;
import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/**
 * Group commit: the flush message queues behind the appends that already wait, so one forced write
 * serves them all. Blocks its own thread; any failure of the disk stops the member.
 */
public final class WalActor extends AbstractBehavior<WalCommand> {
  private enum Flush implements WalCommand.Private {
    INSTANCE
  }

  private final Wal wal;
  private final ActorRef<RaftCommand> raft;
  private final PeerTransport peers;
  private final List<WalCommand.Append> unsynced = new ArrayList<>();

  private WalActor(
      ActorContext<WalCommand> context, Wal wal, ActorRef<RaftCommand> raft, PeerTransport peers) {
    super(context);
    this.wal = wal;
    this.raft = raft;
    this.peers = peers;
  }

  /** The room's behaviour; owns {@code wal} and closes it. */
  public static Behavior<WalCommand> create(
      Wal wal, ActorRef<RaftCommand> raft, PeerTransport peers) {
    return Behaviors.setup(context -> new WalActor(context, wal, raft, peers));
  }

  @Override
  public Receive<WalCommand> createReceive() {
    return newReceiveBuilder()
        .onMessage(WalCommand.Append.class, this::onAppend)
        .onMessageEquals(Flush.INSTANCE, this::onFlush)
        .onMessage(WalCommand.DropBefore.class, this::onDropBefore)
        .onSignal(PostStop.class, signal -> onStop())
        .build();
  }

  private Behavior<WalCommand> onAppend(WalCommand.Append append) {
    wal.append(append.state(), append.entries());
    unsynced.add(append);
    if (unsynced.size() == 1) {
      getContext().getSelf().tell(Flush.INSTANCE);
    }
    return this;
  }

  private Behavior<WalCommand> onFlush() {
    wal.sync();
    // One answer stands for all appends before it.
    WalCommand.Append last = unsynced.get(unsynced.size() - 1);
    raft.tell(new RaftCommand.Durable(last.number()));
    for (WalCommand.Append append : unsynced) {
      for (Outgoing promise : append.thenSend()) {
        peers.send(promise.to(), promise.message());
      }
    }
    unsynced.clear();
    return this;
  }

  private Behavior<WalCommand> onDropBefore(WalCommand.DropBefore drop) {
    wal.dropBefore(drop.index());
    return this;
  }

  private Behavior<WalCommand> onStop() {
    wal.close();
    return this;
  }
}
