package io.troupe.actors.member;

import io.troupe.actors.apply.ApplyActor;
import io.troupe.actors.apply.CommitPublisher;
import io.troupe.actors.apply.CompactionActor;
import io.troupe.actors.apply.LocalStateReader;
import io.troupe.actors.lease.LeaseActor;
import io.troupe.actors.peers.SocketPeers;
import io.troupe.actors.raft.RaftRoleActor;
import io.troupe.actors.snapshot.DiskCapacity;
import io.troupe.actors.snapshot.SnapshotActor;
import io.troupe.actors.snapshot.TransferActor;
import io.troupe.actors.snapshot.TransferCommand;
import io.troupe.actors.wal.WalActor;
import io.troupe.actors.watch.WatchHubActor;
import io.troupe.actors.watch.WatchStreamActor;
import io.troupe.model.AlarmType;
import io.troupe.model.Entry;
import io.troupe.persistence.snapshot.SnapshotPlugin;
import io.troupe.protocol.ApplyCommand;
import io.troupe.protocol.LeaseCommand;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.StateReader;
import io.troupe.protocol.WalCommand;
import io.troupe.protocol.WatchCommand;
import io.troupe.raft.RaftState;
import io.troupe.raft.membership.Membership;
import io.troupe.watch.EventBacklog;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.DispatcherSelector;
import org.apache.pekko.actor.typed.Terminated;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Parent of the actors that work on the opened files of a member, from one opening to the next. If
 * one of them stops, the member stops, because only recovery from disk restores a consistent state.
 * If another member's snapshot replaced the log, all actors stop, and {@link MemberGuardian}
 * recovers from disk and restarts them in the same process.
 */
final class MemberActor {
  private static final String DISPATCHERS = "troupe-dispatchers.";
  private static final Duration DISK_CHECK_INTERVAL = Duration.ofSeconds(1);

  private MemberActor() {}

  /** Messages from the actors to their parent. */
  enum Command {
    /** A snapshot replaced the log: stop. */
    INSTALLED
  }

  /**
   * State that outlives one opening of the files.
   *
   * @param refs opened with the new actors, closed before they stop
   * @param membership receives each membership that takes effect
   * @param broken receives, once, why an actor stopped, or that this member was removed
   */
  record Shared(
      MemberFiles files,
      MemberSettings settings,
      SocketPeers peers,
      KnownPeers known,
      DiskCapacity disk,
      SnapshotPlugin snapshots,
      MemberRefs refs,
      Consumer<Membership> membership,
      Consumer<Throwable> broken) {}

  /** The behavior of the actor; it stops when the files must be opened again. */
  static Behavior<Command> create(Shared shared) {
    return Behaviors.setup(
        context -> {
          spawn(context, shared);
          ActorRef<RaftCommand> raft = shared.refs().raft();
          ActorRef<ApplyCommand> apply = shared.refs().apply();
          return Behaviors.receive(Command.class)
              .onMessageEquals(
                  Command.INSTALLED,
                  () -> {
                    shared.files().metrics().snapshots().installing(true);
                    shared.refs().close();
                    return closing(shared, raft, apply);
                  })
              .onSignal(
                  ChildFailed.class,
                  failed -> {
                    shared.broken().accept(failed.getCause());
                    return Behaviors.same();
                  })
              .onSignal(Terminated.class, ended -> stopped(shared, ended))
              .build();
        });
  }

  private static Behavior<Command> stopped(Shared shared, Terminated ended) {
    shared
        .broken()
        .accept(new IllegalStateException("actor stopped: " + ended.getRef().path().name()));
    return Behaviors.same();
  }

  /**
   * Stops the actors that have pending replies, one after the other and with a message. A parent
   * that stops also stops its children between two messages, and the senders of the remaining
   * messages would wait for a timeout.
   */
  private static Behavior<Command> closing(
      Shared shared, ActorRef<RaftCommand> raft, ActorRef<ApplyCommand> apply) {
    raft.tell(RaftRoleActor.Stop.INSTANCE);
    return Behaviors.receive(Command.class)
        .onSignal(
            ChildFailed.class,
            failed -> {
              shared.broken().accept(failed.getCause());
              return Behaviors.same();
            })
        .onSignal(
            Terminated.class,
            ended -> {
              if (ended.getRef().path().equals(raft.path())) {
                apply.tell(ApplyActor.Stop.INSTANCE);
                return Behaviors.same();
              }
              return ended.getRef().path().equals(apply.path())
                  ? Behaviors.stopped()
                  : stopped(shared, ended);
            })
        .build();
  }

  private static void spawn(ActorContext<Command> context, Shared shared) {
    MemberFiles files = shared.files();
    MemberSettings settings = shared.settings();
    MemberRefs refs = shared.refs();
    refs.status().membership(initialMembership(files.recovered()));
    ActorRef<RaftCommand> raft =
        spawn(
            context,
            RaftRoleActor.create(
                files.recovered(),
                settings.raft(),
                settings.tick(),
                new SplittableRandom(new SecureRandom().nextLong())),
            "raft",
            "raft");
    ActorRef<WalCommand> wal =
        spawn(
            context,
            WalActor.create(
                files.wal(),
                new WalActor.Links(
                    raft,
                    shared.peers(),
                    dispatcher(context, "blocking"),
                    () -> context.getSelf().tell(Command.INSTALLED))),
            "wal",
            "wal");
    ActorRef<LeaseCommand> lease =
        context.spawn(
            LeaseActor.create(
                raft,
                refs.ids(),
                new LeaseActor.Settings(
                    settings.electionTimeout(),
                    settings.checkpointLeasesEvery(),
                    settings.priorityRevokes()),
                files.machine().reader().leases(),
                refs.status()::isSoleVoter,
                files.metrics().apply()),
            "lease");
    context.watch(lease);
    ActorRef<WatchCommand> watch =
        context.spawn(
            WatchHubActor.create(
                files.machine().reader(),
                new WatchStreamActor.Settings(
                    settings.watchBufferBytes(),
                    settings.watchFragmentBytes(),
                    settings.watchProgressInterval(),
                    refs.reads().history(),
                    files.metrics().watch())),
            "watch");
    context.watch(watch);
    ActorRef<TransferCommand> transfers =
        spawn(
            context,
            TransferActor.create(
                files.dataDir().snapshots(),
                settings.transfers(),
                new TransferActor.Links(
                    raft, shared.peers(), shared.disk(), files.metrics().snapshots())),
            "transfers",
            "transfers");
    ActorRef<SnapshotCommand> snapshot =
        spawn(
            context,
            SnapshotActor.create(
                files,
                shared.snapshots(),
                new SnapshotActor.Settings(
                    settings.snapshots(), DISK_CHECK_INTERVAL, settings.snapshots().entries() / 2),
                new SnapshotActor.Links(wal, raft, transfers, shared.disk(), refs.ids())),
            "snapshot",
            "blocking");
    ActorRef<CompactionActor.Command> compaction =
        spawn(
            context,
            CompactionActor.create(
                new CompactionActor.Links(
                    files.machine().compactor(),
                    dispatcher(context, "compaction"),
                    files.machine().reader()::hashCompaction,
                    dispatcher(context, "hashing"),
                    revision -> snapshot.tell(SnapshotCommand.Reclaim.INSTANCE),
                    files.metrics().upkeep()),
                settings.compaction()),
            "compaction",
            "blocking");
    ActorRef<ApplyCommand> apply =
        spawn(
            context,
            ApplyActor.create(
                files.machine(),
                new ApplyActor.Settings(
                    settings.snapshots().entries(),
                    settings.requestTimeout(),
                    settings.slowApply()),
                new ApplyActor.Links(
                    raft,
                    new CommitPublisher(watch, backlog(files), files.metrics().watch()),
                    lease,
                    snapshot,
                    revision -> compaction.tell(new CompactionActor.Moved(revision)),
                    applied -> {
                      shared.known().update(files.machine().view());
                      refs.status().applied(applied);
                    },
                    refs.authListener(),
                    new ApplyActor.Divergence(
                        files.identity().memberId(),
                        refs.ids(),
                        shared.peers()::send,
                        refs.status()::corrupt),
                    refs.traces(),
                    files.metrics().apply())),
            "apply",
            "apply");
    StateReader state =
        new LocalStateReader(
            files.machine(),
            files.store(),
            files.metrics().apply(),
            files.metrics().upkeep(),
            (revision, done) -> compaction.tell(new CompactionActor.Await(revision, done)));
    shared.known().update(files.machine().view());
    refs.status().applied(files.machine().appliedIndex());
    // Set before any caller has a reference. From then on the apply actor updates it.
    refs.status()
        .corrupt(files.machine().view().isAlarmed(files.identity().memberId(), AlarmType.CORRUPT));
    refs.authListener().opened();
    raft.tell(
        new RaftRoleActor.Begin(
            new RaftRoleActor.Links(
                wal,
                apply,
                snapshot,
                shared.peers(),
                refs.status()::raft,
                membership -> {
                  refs.status().membership(membership);
                  shared.membership().accept(membership);
                },
                () -> shared.broken().accept(new MemberRemovedException()),
                refs.traces(),
                files.metrics().raft())));
    // The raft actor gets its Begin before any request.
    refs.open(
        new MemberRefs.Open(
            state,
            raft,
            wal,
            apply,
            lease,
            watch,
            snapshot,
            transfers,
            shared.peers().backlog(16),
            shared.peers().backlog(32)));
  }

  /**
   * A thirty-second of the heap. Belongs to this opening, because the actors that release its
   * memory stop with it.
   */
  private static EventBacklog backlog(MemberFiles files) {
    EventBacklog backlog = new EventBacklog(Runtime.getRuntime().maxMemory() / 32);
    files.metrics().watch().backlog(backlog::bytes, backlog.maxBytes());
    return backlog;
  }

  /** The membership to start with. Empty if the log holds a change that may be in effect. */
  private static Membership initialMembership(RaftState recovered) {
    long version = recovered.membership().version();
    boolean moving =
        recovered.entries().stream()
            .anyMatch(entry -> entry.kind() == Entry.Kind.CONF_CHANGE && entry.index() > version);
    return moving ? Membership.EMPTY : recovered.membership();
  }

  static DispatcherSelector selector(String name) {
    return DispatcherSelector.fromConfig(DISPATCHERS + name);
  }

  private static Executor dispatcher(ActorContext<Command> context, String name) {
    return context.getSystem().dispatchers().lookup(selector(name));
  }

  private static <T> ActorRef<T> spawn(
      ActorContext<Command> context, Behavior<T> behavior, String name, String dispatcher) {
    ActorRef<T> actor = context.spawn(behavior, name, selector(dispatcher));
    context.watch(actor);
    return actor;
  }
}
