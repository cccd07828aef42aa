package io.troupe.actors.member;

import io.troupe.actors.peers.PeerBacklog;
import io.troupe.actors.snapshot.TransferCommand;
import io.troupe.metrics.LabelledValues;
import io.troupe.model.Operation;
import io.troupe.model.Result;
import io.troupe.protocol.ApplyCommand;
import io.troupe.protocol.AuthListener;
import io.troupe.protocol.ForwardedTraces;
import io.troupe.protocol.LeaseCommand;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadExecutors;
import io.troupe.protocol.RequestIds;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.StateReader;
import io.troupe.protocol.WalCommand;
import io.troupe.protocol.WatchCommand;
import java.util.Map;
import java.util.function.ObjIntConsumer;
import org.apache.pekko.actor.ActorRefWithCell;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.Adapter;

/**
 * The actors that the gateway and other members speak to. Outlives the actors themselves: while a
 * snapshot of another member takes the place of the state, requests are refused at once, and
 * afterwards the addresses are new ones. So ask for an address each time it is used. Thread-safe.
 */
public final class MemberRefs {
  /**
   * The actors of one opening of the files.
   *
   * @param raftMessages of other members, that wait for the raft actor
   * @param snapshotMessages of other members, that wait for the transfer actor
   */
  record Open(
      StateReader state,
      ActorRef<RaftCommand> raft,
      ActorRef<WalCommand> wal,
      ActorRef<ApplyCommand> apply,
      ActorRef<LeaseCommand> lease,
      ActorRef<WatchCommand> watch,
      ActorRef<SnapshotCommand> snapshot,
      ActorRef<TransferCommand> transfers,
      PeerBacklog raftMessages,
      PeerBacklog snapshotMessages) {}

  private final PublishedStatus status;
  private final ReadExecutors reads;
  private final RequestIds ids;
  private final Open closed;
  private final StateReader state = new CurrentStateReader(() -> current().state());
  private volatile Open current;
  private volatile AuthListener authListener = AuthListener.NONE;
  private volatile ForwardedTraces traces = ForwardedTraces.NONE;

  /**
   * Closed actors.
   *
   * @param reads where reads run
   * @param ids for proposals of this process
   * @param closed who answers while nothing is open
   */
  MemberRefs(PublishedStatus status, ReadExecutors reads, RequestIds ids, Open closed) {
    this.status = status;
    this.reads = reads;
    this.ids = ids;
    this.closed = closed;
    this.current = closed;
  }

  void open(Open refs) {
    current = refs;
  }

  void close() {
    current = closed;
  }

  /** Who is told of changes of users and roles from now on. */
  public void onAuth(AuthListener listener) {
    authListener = listener;
  }

  /** For the actors: passes on to whoever {@link #onAuth} names when it happens. */
  AuthListener authListener() {
    return new AuthListener() {
      @Override
      public void opened() {
        authListener.opened();
      }

      @Override
      public void applied(Operation.Auth operation, Result result) {
        authListener.applied(operation, result);
      }
    };
  }

  /** Who is told of traced proposals of other members from now on. */
  public void onForwarded(ForwardedTraces listener) {
    traces = listener;
  }

  /** For the actors: passes on to whoever {@link #onForwarded} names when it happens. */
  ForwardedTraces traces() {
    return new ForwardedTraces() {
      @Override
      public boolean isWanted() {
        return traces.isWanted();
      }

      @Override
      public void applied(Forwarded proposal) {
        traces.applied(proposal);
      }
    };
  }

  Open current() {
    return current;
  }

  /** Bytes of messages of other members that wait for actors of now, by actor. */
  public void peerBacklog(LabelledValues.Target target) {
    Open now = current;
    target.value((double) now.raftMessages().bytes(), "raft");
    target.value((double) now.snapshotMessages().bytes(), "transfers");
  }

  /** Most bytes of messages of other members that wait for actors, by actor. */
  public void peerBacklogLimits(LabelledValues.Target target) {
    Open now = current;
    target.value((double) now.raftMessages().maxBytes(), "raft");
    target.value((double) now.snapshotMessages().maxBytes(), "transfers");
  }

  /** What the raft and apply actors say of themselves. */
  public PublishedStatus status() {
    return status;
  }

  /** Reads of the state, whichever is the current one. */
  public StateReader state() {
    return state;
  }

  /** The raft actor of now. */
  public ActorRef<RaftCommand> raft() {
    return current.raft();
  }

  /** The apply actor of now. */
  ActorRef<ApplyCommand> apply() {
    return current.apply();
  }

  /** The lease actor of now. */
  public ActorRef<LeaseCommand> lease() {
    return current.lease();
  }

  /** The watch hub of now. */
  public ActorRef<WatchCommand> watch() {
    return current.watch();
  }

  /** The snapshot actor of now. */
  public ActorRef<SnapshotCommand> snapshot() {
    return current.snapshot();
  }

  /** The transfer actor of now. */
  ActorRef<TransferCommand> transfers() {
    return current.transfers();
  }

  /**
   * Tells how many messages wait in each room's mailbox. Walks the mailboxes: for whoever looks now
   * and then.
   */
  public void mailboxes(ObjIntConsumer<String> each) {
    Open now = current;
    Map.of(
            "raft", now.raft(),
            "wal", now.wal(),
            "apply", now.apply(),
            "lease", now.lease(),
            "watch", now.watch(),
            "snapshot", now.snapshot(),
            "transfers", now.transfers())
        .forEach((name, actor) -> each.accept(name, waiting(actor)));
  }

  private static int waiting(ActorRef<?> actor) {
    return Adapter.toClassic(actor) instanceof ActorRefWithCell local
        ? local.underlying().numberOfMessages()
        : 0;
  }

  /** Where reads run. */
  public ReadExecutors reads() {
    return reads;
  }

  /** For proposals of this process. */
  public RequestIds ids() {
    return ids;
  }
}
