package io.troupe.actors.member;

import io.troupe.actors.apply.ApplyActor;
import io.troupe.actors.apply.CompactionActor;
import io.troupe.actors.apply.LocalStateReader;
import io.troupe.actors.lease.LeaseActor;
import io.troupe.actors.raft.RaftRoleActor;
import io.troupe.actors.snapshot.DiskRoom;
import io.troupe.actors.snapshot.SnapshotActor;
import io.troupe.actors.wal.WalActor;
import io.troupe.actors.watch.WatchHubActor;
import io.troupe.actors.watch.WatchStreamActor;
import io.troupe.model.NodeId;
import io.troupe.protocol.ApplyCommand;
import io.troupe.protocol.LeaseCommand;
import io.troupe.protocol.PeerTransport;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.RequestIds;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.StateReader;
import io.troupe.protocol.WalCommand;
import io.troupe.protocol.WatchCommand;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
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
 * Spawns the rooms of one member over its opened files. A room that stops takes the member down:
 * its state is only right again after a recovery from disk.
 */
public final class MemberGuardian {
  private static final String DISPATCHERS = "troupe-dispatchers.";
  private static final Duration LOOK_AT_DISK = Duration.ofSeconds(1);

  private MemberGuardian() {}

  /**
   * The rooms that the gateway speaks to.
   *
   * @param reads where reads run
   * @param ids for proposals of this process
   */
  public record Rooms(
      PublishedStatus status,
      StateReader state,
      ActorRef<RaftCommand> raft,
      ActorRef<LeaseCommand> lease,
      ActorRef<WatchCommand> watch,
      ActorRef<SnapshotCommand> snapshot,
      Executor reads,
      RequestIds ids) {}

  /**
   * The guardian's behaviour; it takes no messages.
   *
   * @param opening the member's files; the guardian's thread waits for them, so that the actor
   *     system starts while they open
   * @param disk where the member's files are
   * @param startMs wall clock, for request ids
   * @param spawned completed with the rooms
   * @param broken told once why a room stopped; shall end the process
   */
  public static Behavior<Void> create(
      CompletableFuture<MemberFiles> opening,
      MemberSettings settings,
      PeerTransport peers,
      DiskRoom disk,
      long startMs,
      CompletableFuture<Rooms> spawned,
      Consumer<Throwable> broken) {
    return Behaviors.setup(
        context -> {
          MemberFiles files;
          try {
            files = opening.join();
          } catch (CompletionException failed) {
            spawned.completeExceptionally(failed.getCause());
            // Not stopped: the system would end under whoever starts it, and that failure would
            // hide this one.
            return Behaviors.empty();
          }
          spawned.complete(spawn(context, files, settings, peers, disk, startMs));
          return Behaviors.receive(Void.class)
              .onSignal(
                  ChildFailed.class,
                  failed -> {
                    broken.accept(failed.getCause());
                    return Behaviors.same();
                  })
              .onSignal(
                  Terminated.class,
                  ended -> {
                    broken.accept(
                        new IllegalStateException("room stopped: " + ended.getRef().path().name()));
                    return Behaviors.same();
                  })
              .build();
        });
  }

  private static Rooms spawn(
      ActorContext<Void> context,
      MemberFiles files,
      MemberSettings settings,
      PeerTransport peers,
      DiskRoom disk,
      long startMs) {
    NodeId self = files.identity().memberId();
    RequestIds ids = new RequestIds(self, startMs);
    PublishedStatus status =
        new PublishedStatus(files.identity().clusterId(), self, files.machine().appliedIndex());
    Executor reads = dispatcher(context, "reads");

    ActorRef<RaftCommand> raft =
        room(
            context,
            RaftRoleActor.create(
                files.recovered(),
                settings.raft(),
                settings.tick(),
                new SplittableRandom(new SecureRandom().nextLong())),
            "raft",
            "raft");
    ActorRef<WalCommand> wal =
        room(context, WalActor.create(files.wal(), raft, peers), "wal", "wal");
    ActorRef<LeaseCommand> lease =
        context.spawn(LeaseActor.create(raft, ids, settings.electionTimeout()), "lease");
    context.watch(lease);
    ActorRef<WatchCommand> watch =
        context.spawn(
            WatchHubActor.create(
                files.machine().reader(),
                new WatchStreamActor.Settings(
                    settings.watchBufferBytes(),
                    settings.watchFragmentBytes(),
                    settings.watchProgressInterval(),
                    reads)),
            "watch");
    context.watch(watch);
    ActorRef<SnapshotCommand> snapshot =
        room(
            context,
            SnapshotActor.create(
                files,
                new SnapshotActor.Settings(settings.snapshotMinInterval(), LOOK_AT_DISK),
                new SnapshotActor.Links(wal, raft, disk, ids)),
            "snapshot",
            "blocking");
    ActorRef<CompactionActor.Command> compaction =
        room(
            context,
            CompactionActor.create(
                new CompactionActor.Links(
                    files.machine().compactor(),
                    files.machine().reader()::hash,
                    dispatcher(context, "hashing"),
                    revision -> snapshot.tell(SnapshotCommand.Reclaim.INSTANCE)),
                settings.compaction()),
            "compaction",
            "blocking");
    ActorRef<ApplyCommand> apply =
        room(
            context,
            ApplyActor.create(
                files.machine(),
                new ApplyActor.Settings(settings.snapshotCount(), settings.requestTimeout()),
                new ApplyActor.Links(
                    raft,
                    watch,
                    lease,
                    snapshot,
                    revision -> compaction.tell(new CompactionActor.Moved(revision)),
                    status::applied)),
            "apply",
            "apply");
    StateReader state =
        new LocalStateReader(
            files.machine(),
            files.store(),
            (revision, done) -> compaction.tell(new CompactionActor.Await(revision, done)));
    raft.tell(new RaftRoleActor.Begin(new RaftRoleActor.Links(wal, apply, peers, status::raft)));
    return new Rooms(status, state, raft, lease, watch, snapshot, reads, ids);
  }

  private static Executor dispatcher(ActorContext<Void> context, String name) {
    return context
        .getSystem()
        .dispatchers()
        .lookup(DispatcherSelector.fromConfig(DISPATCHERS + name));
  }

  private static <T> ActorRef<T> room(
      ActorContext<Void> context, Behavior<T> behavior, String name, String dispatcher) {
    ActorRef<T> room =
        context.spawn(behavior, name, DispatcherSelector.fromConfig(DISPATCHERS + dispatcher));
    context.watch(room);
    return room;
  }
}
