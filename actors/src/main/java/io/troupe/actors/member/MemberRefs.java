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
 * References to the actors that the gateway and other members use. They outlive the actors. While a
 * snapshot of another member replaces the state, requests are refused; afterwards the references
 * are new. So read a reference each time it is used. Thread-safe.
 */
public final class MemberRefs {
  /**
   * The actors of one opening of the files.
   *
   * @param raftMessages messages of other members in the raft actor's mailbox
   * @param snapshotMessages messages of other members in the transfer actor's mailbox
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
   * Starts closed.
   *
   * @param reads executors for reads
   * @param ids for proposals of this process
   * @param closed refuses requests while no files are open
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

  /** Sets the listener for changes of users and roles. */
  public void onAuth(AuthListener listener) {
    authListener = listener;
  }

  /** Forwards to the current listener of {@link #onAuth}. */
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

  /** Sets the listener for traced proposals of other members. */
  public void onForwarded(ForwardedTraces listener) {
    traces = listener;
  }

  /** Forwards to the current listener of {@link #onForwarded}. */
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

  /** Reports the bytes of the peer messages that wait for the current actors, by actor. */
  public void peerBacklog(LabelledValues.Target target) {
    Open now = current;
    target.value((double) now.raftMessages().bytes(), "raft");
    target.value((double) now.snapshotMessages().bytes(), "transfers");
  }

  /** Reports the limit of the bytes of peer messages that wait, by actor. */
  public void peerBacklogLimits(LabelledValues.Target target) {
    Open now = current;
    target.value((double) now.raftMessages().maxBytes(), "raft");
    target.value((double) now.snapshotMessages().maxBytes(), "transfers");
  }

  /** Status that the raft and apply actors publish. */
  public PublishedStatus status() {
    return status;
  }

  /** Reader of the current state. */
  public StateReader state() {
    return state;
  }

  /** The current raft actor. */
  public ActorRef<RaftCommand> raft() {
    return current.raft();
  }

  /** The current WAL actor. */
  public ActorRef<WalCommand> wal() {
    return current.wal();
  }

  /** The current apply actor. */
  ActorRef<ApplyCommand> apply() {
    return current.apply();
  }

  /** The current lease actor. */
  public ActorRef<LeaseCommand> lease() {
    return current.lease();
  }

  /** The current watch hub. */
  public ActorRef<WatchCommand> watch() {
    return current.watch();
  }

  /** The current snapshot actor. */
  public ActorRef<SnapshotCommand> snapshot() {
    return current.snapshot();
  }

  /** The current transfer actor. */
  ActorRef<TransferCommand> transfers() {
    return current.transfers();
  }

  /**
   * Reports the number of messages in each actor's mailbox. Counts by walking the mailboxes, so
   * call it rarely.
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

  /** Executors for reads. */
  public ReadExecutors reads() {
    return reads;
  }

  /** Request ids for proposals of this process. */
  public RequestIds ids() {
    return ids;
  }
}
