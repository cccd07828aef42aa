package io.troupe.actors.member;

import io.troupe.actors.peers.PeerDirectory;
import io.troupe.actors.peers.PeerIdentity;
import io.troupe.actors.peers.PeerNetwork;
import io.troupe.actors.peers.SocketPeers;
import io.troupe.actors.peers.SocketQueries;
import io.troupe.actors.snapshot.DiskCapacity;
import io.troupe.actors.snapshot.TransferCommand;
import io.troupe.metrics.PeerMetrics;
import io.troupe.model.NodeId;
import io.troupe.persistence.datadir.DataDirException;
import io.troupe.persistence.snapshot.SnapshotPlugin;
import io.troupe.protocol.PeerEnvelope;
import io.troupe.protocol.PeerPayload;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadExecutors;
import io.troupe.protocol.RequestIds;
import io.troupe.protocol.SnapshotMessage;
import io.troupe.protocol.codec.PeerCodec;
import io.troupe.raft.membership.Membership;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.Dispatchers;
import org.apache.pekko.actor.typed.Terminated;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Root actor of one member: starts the communication with other members, and the actors on the
 * member's files. When a snapshot of another member replaced the log, it opens the files again,
 * which also replaces the state, and restarts the actors. The references that callers hold ({@link
 * MemberRefs}, the inboxes of the peers) stay valid.
 */
public final class MemberGuardian {
  /** Maximum number of full-state hashes that run or wait; more are refused. */
  private static final int MOST_HASHES = 32;

  private static final String MEMBER_ACTOR = "rooms";

  private MemberGuardian() {}

  /**
   * Connection of this member to its peers.
   *
   * @param network connections to other members, open
   * @param directory URLs of the members; several components update it
   * @param url where other members reach this member: the first of its peer URLs as text
   * @param membership receives each membership that takes effect, on the raft actor's thread
   * @param queries completed with the client for peer queries before the files are open: a member
   *     without data queries the others for its identity
   */
  public record Peering(
      PeerNetwork network,
      PeerDirectory directory,
      String url,
      Consumer<Membership> membership,
      CompletableFuture<SocketQueries> queries) {}

  /**
   * The behavior of the guardian; it receives no messages.
   *
   * @param opening the member's files; the guardian's thread waits for them, so that the actor
   *     system starts while they open
   * @param disk where the member's files are
   * @param startMs wall clock, for request ids
   * @param spawned completed with the references to the actors
   * @param broken receives, once, why an actor stopped, or {@link MemberRemovedException}; must
   *     stop the process
   */
  public static Behavior<Void> create(
      CompletableFuture<MemberFiles> opening,
      MemberSettings settings,
      Peering peering,
      DiskCapacity disk,
      long startMs,
      CompletableFuture<MemberRefs> spawned,
      Consumer<Throwable> broken) {
    return Behaviors.setup(
        context -> {
          SocketQueries queries =
              SocketQueries.start(context, peering.network(), peering.directory(), peering.url());
          peering.queries().complete(queries);
          MemberFiles files;
          try {
            files = opening.join();
          } catch (CompletionException failed) {
            spawned.completeExceptionally(failed.getCause());
            // The guardian does not stop here: the actor system would terminate during its start,
            // and that failure would hide this one.
            return Behaviors.empty();
          }
          PeerIdentity self = self(files, peering);
          queries.identified(self);
          MemberRefs refs = refs(context, files, startMs);
          SocketPeers peers = peers(self, peering, settings, files, refs, broken);
          refs.status()
              .contacts(new PublishedStatus.Contacts(peers::heardSince, peers::connectedSince));
          MemberActor.Shared shared =
              new MemberActor.Shared(
                  files,
                  settings,
                  peers,
                  new KnownPeers(peering.directory(), files.identity(), peering.url()),
                  disk,
                  SnapshotPlugin.start(
                      context.getSystem(),
                      files.dataDir().snapshots(),
                      files.identity().memberId().toString(),
                      files.metrics().snapshots()::saved),
                  refs,
                  peering.membership(),
                  broken);
          // If one of them stops, the member cannot receive messages but seems healthy.
          context.getChildren().forEach(context::watch);
          open(context, shared);
          spawned.complete(refs);
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
                    String name = ended.getRef().path().name();
                    if (name.equals(MEMBER_ACTOR)) {
                      return reopen(context, shared);
                    }
                    broken.accept(new IllegalStateException("actor stopped: " + name));
                    return Behaviors.same();
                  })
              .build();
        });
  }

  private static void open(ActorContext<Void> context, MemberActor.Shared shared) {
    ActorRef<MemberActor.Command> actor = context.spawn(MemberActor.create(shared), MEMBER_ACTOR);
    context.watch(actor);
  }

  /** All actors have stopped. {@link MemberActor} reports the stop of a single one. */
  private static Behavior<Void> reopen(ActorContext<Void> context, MemberActor.Shared shared) {
    try {
      shared.files().reopen();
    } catch (RuntimeException failure) {
      shared.broken().accept(failure);
      return Behaviors.same();
    }
    open(context, shared);
    shared.files().metrics().snapshots().installing(false);
    return Behaviors.same();
  }

  private static MemberRefs refs(ActorContext<Void> context, MemberFiles files, long startMs) {
    NodeId self = files.identity().memberId();
    PublishedStatus status =
        new PublishedStatus(
            files.identity().clusterId(),
            self,
            files.machine().appliedIndex(),
            files.metrics().raft()::leaderChanged);
    Dispatchers dispatchers = context.getSystem().dispatchers();
    ReadExecutors reads =
        new ReadExecutors(
            dispatchers.lookup(MemberActor.selector("reads")),
            dispatchers.lookup(MemberActor.selector("ranges")),
            new BoundedExecutor(dispatchers.lookup(MemberActor.selector("hashes")), MOST_HASHES),
            dispatchers.lookup(MemberActor.selector("history")),
            dispatchers.lookup(MemberActor.selector("defragmentation")));
    return new MemberRefs(
        status, reads, new RequestIds(self, startMs), UnavailableActors.spawn(context));
  }

  private static PeerIdentity self(MemberFiles files, Peering peering) {
    return new PeerIdentity(
        files.identity().clusterId(), files.identity().memberId(), peering.url());
  }

  private static SocketPeers peers(
      PeerIdentity self,
      Peering peering,
      MemberSettings settings,
      MemberFiles files,
      MemberRefs refs,
      Consumer<Throwable> broken) {
    PeerMetrics metrics = files.metrics().peers();
    return SocketPeers.start(
        peering.network(),
        self,
        peering.directory(),
        settings.electionTimeout(),
        metrics,
        envelope -> toRaft(envelope, PeerCodec.sizeAtMost(envelope), refs.current(), metrics),
        envelope -> toTransfers(envelope, PeerCodec.sizeAtMost(envelope), refs.current(), metrics),
        foreign -> broken.accept(foreign(files, foreign)));
  }

  private static DataDirException foreign(MemberFiles files, Map<String, Long> clusters) {
    Map<String, String> found = new TreeMap<>();
    clusters.forEach((url, cluster) -> found.put(url, Long.toHexString(cluster)));
    return new DataDirException(
        DataDirException.Reason.FOREIGN,
        "the data directory "
            + files.dataDir().root()
            + " belongs to cluster "
            + Long.toHexString(files.identity().clusterId())
            + ", but the members at these peer URLs belong to another cluster: "
            + found
            + "; start with the data directory of this member, or correct the peer URLs");
  }

  private static void toRaft(
      PeerEnvelope envelope, long size, MemberRefs.Open refs, PeerMetrics metrics) {
    Runnable handled = refs.raftMessages().tryTake(envelope.from(), size);
    if (handled == null) {
      metrics.dropped("raft");
    } else if (envelope.payload() instanceof PeerPayload.Raft raft) {
      refs.raft().tell(new RaftCommand.FromPeer(envelope.from(), raft.message(), handled));
    } else if (envelope.payload() instanceof PeerPayload.StateDigest digest) {
      refs.raft().tell(new RaftCommand.PeerDigest(envelope.from(), digest, handled));
    } else {
      handled.run();
    }
  }

  private static void toTransfers(
      PeerEnvelope envelope, long size, MemberRefs.Open refs, PeerMetrics metrics) {
    Runnable handled = refs.snapshotMessages().tryTake(envelope.from(), size);
    if (handled == null) {
      metrics.dropped("transfers");
    } else if (envelope.payload() instanceof SnapshotMessage message) {
      refs.transfers().tell(new TransferCommand.FromPeer(envelope.from(), message, handled));
    } else {
      handled.run();
    }
  }
}
