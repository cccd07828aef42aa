package io.troupe.actors.wal;

import io.troupe.model.Entry;
import io.troupe.persistence.wal.LogRead;
import io.troupe.persistence.wal.Wal;
import io.troupe.protocol.PeerTransport;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.WalCommand;
import io.troupe.raft.Outgoing;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.jspecify.annotations.Nullable;

/**
 * Writes the log with group commit: the flush message is queued after the appends that already
 * wait, so one forced write serves them all. Blocks its own thread. Any failure of the disk stops
 * the member.
 */
public final class WalActor extends AbstractBehavior<WalCommand> {
  private enum Flush implements WalCommand.Private {
    INSTANCE
  }

  private record Read(
      WalCommand.ReadLog request, @Nullable List<Entry> entries, @Nullable Throwable failure)
      implements WalCommand.Private {}

  /**
   * Actors and services that this actor uses.
   *
   * @param reading reads entries for other members; may block
   * @param installed runs when a snapshot has replaced the log: the actors must stop and restart
   *     from the files on disk
   */
  public record Links(
      ActorRef<RaftCommand> raft, PeerTransport peers, Executor reading, Runnable installed) {}

  private final Wal wal;
  private final Links links;
  private final List<WalCommand.Append> unsynced = new ArrayList<>();

  private WalActor(ActorContext<WalCommand> context, Wal wal, Links links) {
    super(context);
    this.wal = wal;
    this.links = links;
  }

  /** The behavior of the actor; owns {@code wal} and closes it. */
  public static Behavior<WalCommand> create(Wal wal, Links links) {
    return Behaviors.setup(context -> new WalActor(context, wal, links));
  }

  @Override
  public Receive<WalCommand> createReceive() {
    return newReceiveBuilder()
        .onMessage(WalCommand.Append.class, this::onAppend)
        .onMessageEquals(Flush.INSTANCE, this::onFlush)
        .onMessage(WalCommand.ReadLog.class, this::onReadLog)
        .onMessage(Read.class, this::onRead)
        .onMessage(WalCommand.Install.class, this::onInstall)
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
    if (unsynced.isEmpty()) {
      // An installation was handled before and has forced everything.
      return this;
    }
    wal.sync();
    // One reply covers all appends before it.
    WalCommand.Append last = unsynced.get(unsynced.size() - 1);
    links.raft().tell(new RaftCommand.Durable(last.number()));
    for (WalCommand.Append append : unsynced) {
      for (Outgoing message : append.messagesAfterPersist()) {
        links.peers().send(message.to(), message.message());
      }
    }
    unsynced.clear();
    return this;
  }

  private Behavior<WalCommand> onReadLog(WalCommand.ReadLog request) {
    LogRead read = wal.entries(request.from(), request.until(), request.maxBytes());
    getContext()
        .pipeToSelf(
            CompletableFuture.supplyAsync(read::read, links.reading()),
            (entries, failure) -> new Read(request, entries, failure));
    return this;
  }

  private Behavior<WalCommand> onRead(Read read) {
    List<Entry> entries = read.entries();
    if (entries == null) {
      // Entries that must exist cannot be read: as at start, the member must not continue.
      throw new CompletionException(read.failure());
    }
    links.raft().tell(new RaftCommand.LogRead(read.request().to(), read.request().from(), entries));
    return this;
  }

  /**
   * With this order a crash at any point leaves the old log or the new one: first term and vote,
   * with the old log's commit index; then the restart, one record; then the full state.
   */
  private Behavior<WalCommand> onInstall(WalCommand.Install install) {
    onFlush();
    wal.append(install.before(), List.of());
    wal.restartAfter(install.index());
    wal.append(install.state(), List.of());
    wal.sync();
    links.installed().run();
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
