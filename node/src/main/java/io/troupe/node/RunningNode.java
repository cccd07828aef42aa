package io.troupe.node;

import com.typesafe.config.Config;
import io.troupe.actors.member.MemberFiles;
import io.troupe.actors.member.MemberGuardian;
import io.troupe.actors.member.MemberRefs;
import io.troupe.actors.member.MemberSettings;
import io.troupe.actors.peers.PeerNetwork;
import io.troupe.actors.peers.SocketQueries;
import io.troupe.edge.GrpcServer;
import io.troupe.edge.calls.Tracing;
import io.troupe.edge.connection.ConnectionSecurity;
import io.troupe.edge.connection.PortServices;
import io.troupe.grpc.error.GrpcException;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.node.backup.BackupSchedule;
import io.troupe.node.backup.WalEntries;
import io.troupe.node.config.ConfigLoader;
import io.troupe.node.config.DerivedSettings;
import io.troupe.node.config.NodeSettings;
import io.troupe.node.config.SizeRules;
import io.troupe.node.ports.ClientPorts;
import io.troupe.node.ports.ClientTls;
import io.troupe.node.ports.FreeAddresses;
import io.troupe.node.ports.PeerProbe;
import io.troupe.node.ports.Peers;
import io.troupe.node.ports.QuorumLog;
import io.troupe.node.process.DiskSpaceMonitor;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.MemberProgress;
import io.troupe.node.process.MemoryLock;
import io.troupe.node.process.StartException;
import io.troupe.node.start.InitialCluster;
import io.troupe.node.start.InitialCorruptionCheck;
import io.troupe.node.start.StorageOpener;
import io.troupe.node.tracing.OtlpTracing;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.protocol.MemberStatus;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.server.BackupRequests;
import io.troupe.server.EtcdServices;
import io.troupe.server.GatewaySettings;
import io.troupe.server.Logins;
import io.troupe.server.MaintenanceTasks;
import io.troupe.server.Member;
import io.troupe.server.PendingReplies;
import io.troupe.server.Proposer;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.pekko.actor.CoordinatedShutdown;
import org.apache.pekko.actor.typed.ActorSystem;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running member, from its locked data directory to its open ports. {@link #close} shuts it down
 * cleanly.
 */
public final class RunningNode implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RunningNode.class);

  /** Grace period for calls in flight when the member stops. */
  private static final Duration GRACE = Duration.ofMillis(200);

  /** Timeout of the leadership transfer when a leader stops. */
  private static final Duration TRANSFER_TIMEOUT = Duration.ofMillis(500);

  /** Timeout for files that are being opened while the start fails. */
  private static final Duration ABANDONED = Duration.ofSeconds(10);

  private static final Duration STOP_STEP = Duration.ofMillis(800);

  private final NodeSettings settings;
  private final MemberFiles files;
  private final DiskSpaceMonitor space;
  private final PeerNetwork network;
  private final ActorSystem<Void> system;
  private final Consumer<Throwable> broken;
  private final CompletableFuture<Void> published = new CompletableFuture<>();
  private volatile @Nullable EtcdServices services;
  private volatile @Nullable MemberStatus status;
  private volatile @Nullable BackupSchedule backups;
  private final ClientPorts ports;
  private volatile Tracing tracing = Tracing.OFF;

  private RunningNode(
      NodeSettings settings,
      MemberFiles files,
      DiskSpaceMonitor space,
      PeerNetwork network,
      ActorSystem<Void> system,
      Consumer<Throwable> broken) {
    this.network = network;
    this.broken = broken;
    this.space = space;
    this.settings = settings;
    this.ports = new ClientPorts(settings);
    this.files = files;
    this.system = system;
  }

  /**
   * Starts a member and returns once it listens. Calls wait until it has published itself ({@link
   * #awaitReady}), for which a quorum is needed (B1).
   *
   * @param config complete, as {@link ConfigLoader} makes it
   * @param broken called when the member cannot continue; must end the process, or close the member
   *     with {@link #abort} on another thread
   * @throws StartException if it cannot start
   */
  public static RunningNode start(Config config, Consumer<Throwable> broken) {
    return start(config, broken, node -> {});
  }

  /**
   * Starts a member as above.
   *
   * @param told receives the member before it reports that it is ready
   */
  static RunningNode start(Config config, Consumer<Throwable> broken, Consumer<RunningNode> told) {
    NodeSettings settings = NodeSettings.of(config);
    SizeRules.check(settings, Runtime.getRuntime().maxMemory());
    if (settings.memoryMlock()) {
      MemoryLock.hold();
    }
    MemberSettings memberSettings = DerivedSettings.member(settings);
    Logins logins = DerivedSettings.logins(settings);
    List<Path> disks =
        Stream.concat(Stream.of(settings.dataDir()), settings.walDir().stream()).toList();
    // A refused first start leaves no files. With data the lock is taken first, because a process
    // that is about to stop holds the addresses too, and only its lock is worth a restart.
    boolean first = !DataDir.hasOwner(settings.dataDir());
    if (first) {
      InitialCluster.of(settings);
      FreeAddresses.require(settings);
    }
    DiskSpaceMonitor.releaseReserves(disks, settings.minFreeDiskBytes());
    DataDir dataDir = DataDir.open(settings.dataDir(), settings.walDir().orElse(null));
    DiskSpaceMonitor space = new DiskSpaceMonitor(disks, settings.minFreeDiskBytes());
    PeerNetwork network = null;
    ActorSystem<Void> system = null;
    RunningNode node = null;
    CompletableFuture<SocketQueries> queries = new CompletableFuture<>();
    StorageOpener opening = null;
    boolean started = false;
    try {
      if (!first) {
        FreeAddresses.require(settings);
      }
      Optional<ConnectionSecurity> clientTls = ClientTls.of(settings);
      network = Peers.open(settings, config.getBytes("troupe-peers.memory-bytes"), broken);
      // Opens files and loads classes in parallel: together they take most of the start.
      opening =
          StorageOpener.begin(
              dataDir,
              settings,
              memberSettings,
              (url, query, timeout) ->
                  queries.thenCompose(ready -> ready.ask(url, query, timeout)));
      CompletableFuture<MemberRefs> spawned = new CompletableFuture<>();
      system =
          ActorSystems.start(
              config,
              settings.heartbeatInterval(),
              MemberGuardian.create(
                  opening.files(),
                  memberSettings,
                  Peers.peering(settings, network, queries),
                  space,
                  System.currentTimeMillis(),
                  spawned,
                  broken));
      if (Thread.currentThread().isInterrupted()) {
        throw new InterruptedException("interrupted while the actor system started");
      }
      GrpcServer.prepare(system);
      MemberFiles files = opening.await();
      // Damage that a read finds affects all clients: the member must stop serving.
      files.onDamage(broken::accept);
      node = new RunningNode(settings, files, space, network, system, broken);
      Proposer proposer = node.serve(spawned, queries.join(), logins, clientTls);
      told.accept(node);
      node.publish(proposer);
      started = true;
      return node;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StartException(ExitCode.UNEXPECTED, "interrupted while starting", e);
    } finally {
      if (!started) {
        queries.completeExceptionally(new IllegalStateException("the start failed"));
        // An interrupted caller waits for that too.
        boolean interrupted = Thread.interrupted();
        abandon(node, network, system, opening, dataDir);
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  /** Releases everything after a failed start: in a test or an application the JVM continues. */
  private static void abandon(
      @Nullable RunningNode node,
      @Nullable PeerNetwork network,
      @Nullable ActorSystem<Void> system,
      @Nullable StorageOpener opening,
      DataDir dataDir) {
    if (node != null) {
      node.close();
      return;
    }
    if (system != null) {
      finished(ActorSystems.stopped(system), ABANDONED, "actors");
    }
    if (network != null) {
      network.close();
    }
    if (opening != null) {
      finished(opening.abandon(), ABANDONED, "files");
    }
    dataDir.close();
  }

  private Proposer serve(
      CompletableFuture<MemberRefs> spawned,
      SocketQueries queries,
      Logins logins,
      Optional<ConnectionSecurity> clientTls)
      throws InterruptedException {
    MemberRefs refs = await(settings, spawned, "the actors to start");
    Member member =
        new Member(
            refs.status(),
            refs.state(),
            refs::raft,
            refs::lease,
            refs::watch,
            refs.reads(),
            system.scheduler(),
            new PendingReplies(system.scheduler()),
            files.metrics(),
            DerivedSettings.clientMemory(settings),
            settings.versions().server());
    GatewaySettings gateway = DerivedSettings.gateway(settings);
    Proposer proposer = new Proposer(member, gateway, refs.ids());
    WalEntries log = new WalEntries(refs::wal, system.scheduler());
    BackupSchedule schedule =
        BackupSchedule.start(settings.backup(), files, refs.status(), space, log);
    backups = schedule;
    EtcdServices wired =
        new EtcdServices(
            member,
            gateway,
            proposer,
            logins,
            queries,
            Clock.systemUTC(),
            () -> !space.isLow(),
            new Defragmentation(() -> defragment(refs), refs.reads().defragmentation())::request,
            schedule == null ? BackupRequests.NONE : schedule);
    refs.onAuth(logins.tokens());
    status = refs.status();
    services = wired;
    queries.serve(wired.peerReplys());
    files
        .metrics()
        .beforeFirstLook(
            () -> {
              MemberGauges.register(settings, files, refs, member, logins, network.memory());
              space.register(files.metrics());
            });
    PeerProbe.start(system, member, queries, settings.electionTimeout());
    QuorumLog.start(system, member);
    if (settings.tracing().isPresent()) {
      tracing = OtlpTracing.start(settings.tracing().get());
    }
    refs.onForwarded(
        tracing.forwarded(files.metrics().disk().walSyncs(), system.executionContext()));
    ports.open(
        new GrpcServer(system, wired, DerivedSettings.http(settings), tracing, published),
        clientTls);
    MaintenanceTasks upkeep =
        wired.upkeep(
            settings.upkeep(),
            settings.versions(),
            reason -> broken.accept(new StartException(ExitCode.VERSION, reason)));
    InitialCorruptionCheck.require(upkeep, settings);
    CompletionStage<Void> serves = published;
    serves.thenRun(upkeep::start);
    return proposer;
  }

  /**
   * Snapshots share the files that the rewrite deletes: their space is free when the snapshots
   * release them.
   */
  private void defragment(MemberRefs refs) {
    files.metrics().disk().defragment(files.store()::compactFully);
    refs.snapshot().tell(SnapshotCommand.Reclaim.INSTANCE);
  }

  /**
   * Publishes this member, repeated until it succeeds: without a quorum it waits for other members
   * to start.
   */
  private void publish(Proposer proposer) {
    Operation publish =
        new Operation.PublishMember(
            files.identity().memberId(), settings.name(), settings.advertiseClientUrls());
    proposer
        .propose(publish)
        .whenComplete(
            (done, failure) -> {
              if (failure == null) {
                LOG.info(
                    "published local member to cluster through raft local-member-id={} name={}"
                        + " client-urls={} cluster-id={}",
                    files.identity().memberId(),
                    settings.name(),
                    settings.advertiseClientUrls(),
                    Long.toHexString(files.identity().clusterId()));
                published.complete(null);
                LOG.info("ready to serve client requests");
                ports.announce();
                return;
              }
              if (!isExpected(failure)) {
                broken.accept(failure);
                return;
              }
              LOG.info("cannot publish this member yet, retrying reason={}", failure.toString());
              system
                  .scheduler()
                  .scheduleOnce(
                      settings.heartbeatInterval(),
                      () -> publish(proposer),
                      system.executionContext());
            });
  }

  /** Returns true for temporary failures: no leader, no quorum, or overload. */
  private static boolean isExpected(Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? cause(failure) : failure;
    return cause instanceof RefusedException
        || cause instanceof GrpcException
        || cause instanceof TimeoutException;
  }

  /**
   * Waits until this member has published itself and serves its clients.
   *
   * @throws StartException if the member is closed before
   */
  public void awaitReady() throws InterruptedException {
    try {
      published.get();
    } catch (ExecutionException e) {
      throw new StartException(ExitCode.UNEXPECTED, "member closed before it was ready", e);
    }
  }

  private static <T> T await(NodeSettings settings, CompletableFuture<T> stage, String what)
      throws InterruptedException {
    try {
      return stage.get(settings.requestTimeout().toMillis() * 4, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new StartException(ExitCode.UNEXPECTED, "timed out waiting for " + what, e);
    } catch (ExecutionException e) {
      throw new CompletionException(cause(e));
    }
  }

  private static Throwable cause(Throwable failure) {
    Throwable cause = failure.getCause();
    return cause == null ? failure : cause;
  }

  /**
   * Runs {@code stop} when the process receives a signal to stop, while the actors run. With a
   * plain JVM hook Pekko's hook would stop them at the same time, and the leadership could not be
   * transferred.
   */
  void whenProcessEnds(Runnable stop) {
    CoordinatedShutdown.get(system).addJvmShutdownHook(stop);
  }

  /** Reads how far the member is, for the watchdog. Does not block. */
  MemberProgress progress() {
    MemberStatus now = Objects.requireNonNull(status);
    MemberMetrics metrics = files.metrics();
    // The applied index first: it never is above the commit index of a later moment.
    long applied = now.applied();
    return new MemberProgress(
        metrics.disk().walProgress().pendingOperation(),
        now.committed(),
        applied,
        metrics.raft().ticks(),
        metrics.snapshots().isInstalling());
  }

  /** Returns the open local ports, in the order of listen-client-urls. */
  public List<Integer> clientPorts() {
    return ports(settings.http().listenUrls().isEmpty() ? PortServices.ALL : PortServices.GRPC);
  }

  /**
   * Returns the open local ports for that use, in the order of their URLs. Unix sockets have no
   * port.
   */
  public List<Integer> ports(PortServices serves) {
    return ports.of(serves);
  }

  /**
   * Transfers the leadership, closes the ports, then the actors (the log last), then the state.
   * Takes less than 2 s, even if other members do not reply.
   */
  @Override
  public void close() {
    published.completeExceptionally(new RefusedException(Refusal.STOPPED));
    transferLeadership();
    stop(GRACE);
  }

  /**
   * Closes a member that cannot continue, without a leadership transfer and without time for calls
   * in flight: it must not respond any more. For a program that continues after {@code broken} was
   * called; a member's own process halts instead.
   */
  public void abort() {
    published.completeExceptionally(new RefusedException(Refusal.STOPPED));
    stop(Duration.ZERO);
  }

  private void stop(Duration grace) {
    // All ports at the same time. Connections that are open after the grace period (an idle watch,
    // a
    // client that never sent a request) are closed with the actor system, without a warning.
    if (!finished(ports.close(grace), GRACE.plus(GRACE), "connections")) {
      LOG.debug("closing open connections after the grace period");
    }
    BackupSchedule schedule = backups;
    if (schedule != null) {
      schedule.close();
    }
    long endNanos = System.nanoTime() + STOP_STEP.toNanos();
    if (!finished(ActorSystems.stopped(system), STOP_STEP, "actors")) {
      LOG.warn("actors did not stop in time, continuing shutdown timeout={}", STOP_STEP);
    }
    network.close();
    // After the actors, with which the last streams end; in the time that is left.
    Duration left = Duration.ofNanos(Math.max(endNanos - System.nanoTime(), 0));
    finished(tracing.close(left).toCompletableFuture(), STOP_STEP, "traces");
    files.close();
  }

  /**
   * Transfers the leadership while the ports are open: requests meanwhile reach the next leader
   * (B5).
   */
  private void transferLeadership() {
    EtcdServices running = services;
    if (running == null) {
      return;
    }
    CompletableFuture<Boolean> transferred =
        running.handOver(TRANSFER_TIMEOUT).toCompletableFuture();
    if (finished(transferred, TRANSFER_TIMEOUT, "the leadership")
        && !transferred.isCompletedExceptionally()
        && transferred.getNow(false)) {
      LOG.info("transferred the leadership");
    }
  }

  /** Returns true if the stage completed within that time, normally or with a failure. */
  private static boolean finished(CompletableFuture<?> stage, Duration atMost, String what) {
    try {
      stage.get(atMost.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      LOG.warn("failure while closing {} reason={}", what, cause(e).toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return true;
  }
}
