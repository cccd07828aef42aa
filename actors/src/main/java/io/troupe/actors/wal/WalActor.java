package io.troupe.actors.wal;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.persistence.wal.LogRead;
import io.troupe.persistence.wal.Wal;
import io.troupe.protocol.LogEntries;
import io.troupe.protocol.PeerTransport;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.WalCommand;
import io.troupe.raft.Outgoing;
import io.troupe.raft.WalCore;
import io.troupe.raft.WalEffects;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.jspecify.annotations.Nullable;

/**
 * Runs {@link WalCore} on the log of this member: turns messages into inputs and effects into
 * writes and messages. Blocks its own thread. Any failure of the disk stops the member.
 */
public final class WalActor extends AbstractBehavior<WalCommand> implements WalEffects {
  private enum Flush implements WalCommand.Private {
    INSTANCE
  }

  private record Read(
      Consumer<List<Entry>> asker, @Nullable List<Entry> entries, @Nullable Throwable failure)
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
  private final WalCore core = new WalCore(this);

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
        .onMessage(WalCommand.ReadEntries.class, this::onReadEntries)
        .onMessage(Read.class, this::onRead)
        .onMessage(WalCommand.Install.class, this::onInstall)
        .onMessage(WalCommand.DropBefore.class, this::onDropBefore)
        .onSignal(PostStop.class, signal -> onStop())
        .build();
  }

  private Behavior<WalCommand> onAppend(WalCommand.Append append) {
    core.append(append.number(), append.state(), append.entries(), append.messagesAfterPersist());
    return this;
  }

  private Behavior<WalCommand> onFlush() {
    core.flush();
    return this;
  }

  private Behavior<WalCommand> onReadLog(WalCommand.ReadLog request) {
    return read(
        wal.entries(request.from(), request.until(), request.maxBytes()),
        entries ->
            links.raft().tell(new RaftCommand.LogRead(request.to(), request.from(), entries)));
  }

  private Behavior<WalCommand> onReadEntries(WalCommand.ReadEntries request) {
    return read(
        wal.entries(request.from(), request.until(), request.maxBytes()),
        entries -> request.replyTo().tell(new LogEntries(entries)));
  }

  private Behavior<WalCommand> read(LogRead read, Consumer<List<Entry>> asker) {
    getContext()
        .pipeToSelf(
            CompletableFuture.supplyAsync(read::read, links.reading()),
            (entries, failure) -> new Read(asker, entries, failure));
    return this;
  }

  private Behavior<WalCommand> onRead(Read read) {
    List<Entry> entries = read.entries();
    if (entries == null) {
      // Entries that must exist cannot be read: as at start, the member must not continue.
      throw new CompletionException(read.failure());
    }
    read.asker().accept(entries);
    return this;
  }

  private Behavior<WalCommand> onInstall(WalCommand.Install install) {
    core.install(install.before(), install.state(), install.index());
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

  @Override
  public void write(HardState state, List<Entry> entries) {
    wal.append(state, entries);
  }

  @Override
  public void restartAfter(long index) {
    wal.restartAfter(index);
  }

  @Override
  public void sync() {
    wal.sync();
  }

  @Override
  public void flushLater() {
    getContext().getSelf().tell(Flush.INSTANCE);
  }

  @Override
  public void durable(long number) {
    links.raft().tell(new RaftCommand.Durable(number));
  }

  @Override
  public void send(Outgoing message) {
    links.peers().send(message.to(), message.message());
  }

  @Override
  public void installed() {
    links.installed().run();
  }
}
