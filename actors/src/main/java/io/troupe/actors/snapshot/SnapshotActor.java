package io.troupe.actors.snapshot;

import io.troupe.actors.member.MemberFiles;
import io.troupe.model.AlarmType;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.RequestId;
import io.troupe.mvcc.StoreException;
import io.troupe.persistence.datadir.DurableFiles;
import io.troupe.persistence.snapshot.SnapshotDirectory;
import io.troupe.persistence.snapshot.SnapshotException;
import io.troupe.persistence.snapshot.SnapshotManifest.FileSum;
import io.troupe.persistence.snapshot.SnapshotPlugin;
import io.troupe.persistence.snapshot.SnapshotRef;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReplicationReply;
import io.troupe.protocol.RequestIds;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.WalCommand;
import io.troupe.protocol.codec.OperationCodec;
import io.troupe.raft.ReplicationStatus;
import io.troupe.snapshot.LogExtent;
import io.troupe.snapshot.LogRetention;
import io.troupe.snapshot.SnapshotCore;
import io.troupe.snapshot.SnapshotEffects;
import io.troupe.snapshot.SnapshotRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates a checkpoint of the state when {@link SnapshotCore} asks for one, saves it through the
 * persistence plugin, and has the log released and snapshots transferred as it decides.
 */
public final class SnapshotActor extends AbstractBehavior<SnapshotCommand>
    implements SnapshotEffects<SnapshotRef> {
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotActor.class);
  private static final Duration APPEND_TIMEOUT = Duration.ofSeconds(5);

  private enum IntervalElapsed implements SnapshotCommand.Private {
    INSTANCE
  }

  private enum DiskCheck implements SnapshotCommand.Private {
    INSTANCE
  }

  private record Saved(long index, long startedNanos, @Nullable Throwable failure)
      implements SnapshotCommand.Private {}

  /** Whatever the result: if the entry was not applied, the next check proposes it again. */
  private record Appended(@Nullable Throwable failure) implements SnapshotCommand.Private {}

  private record OlderDeleted(long below, @Nullable Throwable failure)
      implements SnapshotCommand.Private {}

  private record Replicated(@Nullable ReplicationStatus status)
      implements SnapshotCommand.Private {}

  /**
   * A transfer ended.
   *
   * @param transfer number of the transfer, from {@link SnapshotCommand.Send}
   * @param ok true if the follower has the content
   */
  record TransferEnded(NodeId to, long transfer, boolean ok) implements SnapshotCommand.Private {}

  /** A file of a snapshot of this member is damaged. */
  record Damaged(FileSum file) implements SnapshotCommand.Private {}

  private record Deleted(long index, @Nullable Throwable failure)
      implements SnapshotCommand.Private {}

  /** Actors and services that this actor uses. */
  public record Links(
      ActorRef<WalCommand> wal,
      ActorRef<RaftCommand> raft,
      ActorRef<TransferCommand> transfers,
      DiskCapacity disk,
      RequestIds ids) {}

  /**
   * Settings of the actor.
   *
   * @param snapshots when snapshots are taken
   * @param checkInterval time between two checks of the free space and of the log
   * @param catchUpEntries entries before a snapshot that the log keeps for slightly lagging
   *     followers, 0 or more; half of {@code snapshots.logBytes()} at most
   */
  public record Settings(SnapshotSettings snapshots, Duration checkInterval, long catchUpEntries) {}

  /**
   * A snapshot is due when there are so many log segments after the newest snapshot. Each start of
   * a member begins a segment, and each segment is a file that a start must read.
   */
  private static final int MAX_SEGMENTS = 64;

  private final TimerScheduler<SnapshotCommand> timers;
  private final MemberFiles files;
  private final SnapshotPlugin plugin;
  private final Settings settings;
  private final Links links;
  private final KnownSnapshots known;
  private final SnapshotCore<SnapshotRef> core;
  private final ActorRef<ReplicationReply> replication;
  private boolean warned;

  private SnapshotActor(
      ActorContext<SnapshotCommand> context,
      TimerScheduler<SnapshotCommand> timers,
      MemberFiles files,
      SnapshotPlugin plugin,
      Settings settings,
      Links links) {
    super(context);
    this.timers = timers;
    this.files = files;
    this.settings = settings;
    this.links = links;
    this.plugin = plugin;
    this.replication =
        context.messageAdapter(ReplicationReply.class, reply -> new Replicated(reply.status()));
    this.known = new KnownSnapshots(plugin.directory(), files.dataDir().state());
    SnapshotSettings snapshots = settings.snapshots();
    this.core =
        new SnapshotCore<>(
            new SnapshotCore.Settings(
                snapshots.entries(),
                snapshots.logBytes(),
                MAX_SEGMENTS,
                !snapshots.minInterval().isZero(),
                new LogRetention.Limits(
                    settings.catchUpEntries(),
                    snapshots.logBytes() / 2,
                    snapshots.receiverLogBytes())),
            this);
    known.newestIndex(Long.MAX_VALUE).ifPresent(files.metrics().snapshots()::newest);
    core.start();
    timers.startTimerWithFixedDelay(DiskCheck.INSTANCE, settings.checkInterval());
  }

  /**
   * The behavior of the actor; called before anything is applied.
   *
   * @param plugin of the actor system; outlives the actor
   */
  public static Behavior<SnapshotCommand> create(
      MemberFiles files, SnapshotPlugin plugin, Settings settings, Links links) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers -> new SnapshotActor(context, timers, files, plugin, settings, links)));
  }

  @Override
  public Receive<SnapshotCommand> createReceive() {
    return newReceiveBuilder()
        .onMessage(SnapshotCommand.Due.class, this::onDue)
        .onMessageEquals(SnapshotCommand.Reclaim.INSTANCE, this::onReclaim)
        .onMessage(Appended.class, this::onAppended)
        .onMessageEquals(DiskCheck.INSTANCE, this::onDiskCheck)
        .onMessage(Saved.class, this::onSaved)
        .onMessage(OlderDeleted.class, this::onOlderDeleted)
        .onMessage(SnapshotCommand.Send.class, this::onSend)
        .onMessage(TransferEnded.class, this::onTransferEnded)
        .onMessage(Replicated.class, this::onReplicated)
        .onMessage(Damaged.class, this::onDamaged)
        .onMessage(Deleted.class, this::onDeleted)
        .onMessageEquals(IntervalElapsed.INSTANCE, this::onIntervalElapsed)
        .build();
  }

  // ---- messages

  private Behavior<SnapshotCommand> onDue(SnapshotCommand.Due due) {
    core.due(due.index());
    return this;
  }

  private Behavior<SnapshotCommand> onReclaim() {
    core.reclaim();
    return this;
  }

  private Behavior<SnapshotCommand> onDiskCheck() {
    links.disk().keepReserve();
    core.check();
    return this;
  }

  private Behavior<SnapshotCommand> onAppended(Appended ended) {
    if (ended.failure() != null) {
      LOG.debug("failed to append an entry for a snapshot: {}", ended.failure().toString());
    }
    core.proposed();
    return this;
  }

  /**
   * Handles the result of a save.
   *
   * @throws SnapshotException DAMAGED if a table file of the state is damaged: the member must not
   *     continue serving
   */
  private Behavior<SnapshotCommand> onSaved(Saved saved) {
    long index = saved.index();
    throwIfDamaged(saved.failure());
    if (saved.failure() != null) {
      // The log keeps all needed entries, so the member continues.
      LOG.error(
          "cannot save snapshot, log is not truncated snapshot-index={}: {}",
          index,
          saved.failure().toString());
      files.metrics().snapshots().saveFailed();
      core.saveFailed();
      return this;
    }
    files.metrics().snapshots().newest(index);
    LOG.info(
        "saved snapshot snapshot-index={} took={}",
        index,
        Duration.ofMillis((System.nanoTime() - saved.startedNanos()) / 1_000_000));
    core.saved(index);
    return this;
  }

  private static void throwIfDamaged(@Nullable Throwable failure) {
    for (Throwable t = failure; t != null; t = t.getCause()) {
      if (t instanceof SnapshotException e && e.kind() == SnapshotException.Kind.DAMAGED) {
        throw e;
      }
    }
  }

  private Behavior<SnapshotCommand> onIntervalElapsed() {
    core.intervalElapsed();
    return this;
  }

  private Behavior<SnapshotCommand> onSend(SnapshotCommand.Send send) {
    core.send(new SnapshotRequest(send.to(), send.transfer(), send.term(), send.atLeast()));
    return this;
  }

  private Behavior<SnapshotCommand> onTransferEnded(TransferEnded ended) {
    core.transferEnded(ended.to(), ended.transfer(), ended.ok());
    return this;
  }

  /**
   * A file of a snapshot is damaged. The state has or had the same file. If the state still has it,
   * the state is damaged too, and the member must not continue serving. Otherwise the next snapshot
   * is undamaged.
   *
   * @throws SnapshotException DAMAGED if the state is damaged
   */
  private Behavior<SnapshotCommand> onDamaged(Damaged damaged) {
    FileSum file = damaged.file();
    Path inState = files.dataDir().state().resolve(file.name());
    try {
      if (SnapshotDirectory.isTable(file.name()) && Files.exists(inState) && !file.fits(inState)) {
        throw new SnapshotException(
            SnapshotException.Kind.DAMAGED, inState + " does not match its checksum");
      }
    } catch (IOException e) {
      // The state may have removed it just now. If the disk is at fault, other reads fail too.
      LOG.warn("cannot read file of the state path={}: {}", inState, e.toString());
    }
    for (long index : known.damagedBy(file)) {
      getContext().pipeToSelf(plugin.delete(index), (done, failure) -> new Deleted(index, failure));
    }
    return this;
  }

  private Behavior<SnapshotCommand> onDeleted(Deleted deleted) {
    if (deleted.failure() != null) {
      LOG.error(
          "cannot remove damaged snapshot snapshot-index={}: {}",
          deleted.index(),
          deleted.failure().toString());
      return this;
    }
    LOG.error("removed damaged snapshot snapshot-index={}", deleted.index());
    core.damagedRemoved();
    return this;
  }

  private Behavior<SnapshotCommand> onReplicated(Replicated replicated) {
    core.replicated(replicated.status());
    return this;
  }

  private Behavior<SnapshotCommand> onOlderDeleted(OlderDeleted ended) {
    if (ended.failure() != null) {
      LOG.error("cannot remove older snapshots: {}", ended.failure().toString());
    } else {
      LOG.info("disk is nearly full, removed snapshots before snapshot-index={}", ended.below());
    }
    core.olderDeleted(ended.below(), ended.failure() == null);
    return this;
  }

  // ---- reads of the core

  @Override
  public long appliedIndex() {
    return files.machine().view().appliedIndex();
  }

  @Override
  public LogExtent log() {
    return files.logExtent();
  }

  @Override
  public boolean isDiskLow() {
    return links.disk().isLow();
  }

  /**
   * Returns true if the checkpoint fits on the disk. A checkpoint writes the in-memory part of the
   * state to disk. Without space for that the state refuses further writes, which stops the member.
   * The next check tries again.
   */
  @Override
  public boolean fits() {
    long unwritten = files.store().unwrittenBytes();
    long free = links.disk().freeBytes();
    boolean fits = unwritten <= free;
    if (!fits && !warned) {
      LOG.warn(
          "skipped snapshot, disk space too low, log is not truncated; free disk space"
              + " free-bytes={} needed-bytes={}",
          free,
          unwritten);
    }
    warned = !fits;
    return fits;
  }

  @Override
  public Optional<List<Long>> indexes() {
    return known.indexes();
  }

  @Override
  public Optional<Long> newestIndex(long index) {
    return known.newestIndex(index);
  }

  /** A snapshot without a membership is of a member that belongs to no cluster yet. */
  @Override
  public @Nullable SnapshotRef latest() {
    return known.latest().filter(ref -> !ref.membership().isEmpty()).orElse(null);
  }

  @Override
  public long indexOf(SnapshotRef snapshot) {
    return snapshot.index();
  }

  @Override
  public boolean holdsRewrittenFiles(long index) {
    return known.holdsRewrittenFiles(index);
  }

  // ---- effects of the core

  /** A full disk does not stop the member: the state works without the checkpoint. */
  @Override
  public void take(long index) {
    long started = System.nanoTime();
    try {
      SnapshotRef ref = make(started);
      getContext()
          .pipeToSelf(
              plugin.save(ref), (done, failure) -> new Saved(ref.index(), started, failure));
    } catch (SnapshotException | StoreException e) {
      if (!DurableFiles.isDiskFull(e)) {
        throw e;
      }
      plugin.directory().discardMade();
      getContext().getSelf().tell(new Saved(index, started, e));
    }
  }

  /**
   * Reads the position from the checkpoint, because it may contain entries that were applied
   * meanwhile.
   */
  private SnapshotRef make(long startedNanos) {
    Path made = plugin.directory().prepareUnnamed();
    files.store().checkpoint(made);
    files.metrics().disk().snapshotMade(System.nanoTime() - startedNanos);
    SnapshotPosition at = SnapshotPosition.of(made);
    Path content = plugin.directory().nameMade(at.index(), at.term());
    return new SnapshotRef(at.index(), at.term(), at.membership(), content);
  }

  @Override
  public void startInterval() {
    timers.startSingleTimer(IntervalElapsed.INSTANCE, settings.snapshots().minInterval());
  }

  @Override
  public void deleteOlder(long index) {
    getContext()
        .pipeToSelf(
            plugin.deleteBefore(index), (done, failure) -> new OlderDeleted(index, failure));
  }

  @Override
  public void proposeEmptyEntry() {
    RequestId id = links.ids().next();
    getContext()
        .ask(
            ProposeReply.class,
            links.raft(),
            APPEND_TIMEOUT,
            replyTo ->
                new RaftCommand.Propose(
                    id,
                    OperationCodec.encode(id, new Operation.AlarmGet(AlarmType.NONE)),
                    replyTo::tell),
            (reply, failure) -> new Appended(failure));
  }

  @Override
  public void transfer(SnapshotRequest request, SnapshotRef snapshot) {
    links
        .transfers()
        .tell(
            new TransferCommand.Start(
                request.to(),
                request.transfer(),
                request.term(),
                snapshot,
                getContext().getSelf()));
  }

  @Override
  public void discardReceived(long applied, boolean all) {
    links.transfers().tell(new TransferCommand.Discard(applied, all));
  }

  @Override
  public void queryReplication() {
    links.raft().tell(new RaftCommand.GetReplication(replication::tell));
  }

  @Override
  public void release(long index) {
    links.raft().tell(new RaftCommand.SnapshotTaken(index));
    links.wal().tell(new WalCommand.DropBefore(index + 1));
  }

  @Override
  public void retained(LogRetention.Retained retained) {
    files
        .metrics()
        .snapshots()
        .logRetained(retained.snapshots(), retained.lagging(), retained.receivers());
  }

  @Override
  public void receiverLost(NodeId receiver, long index, long bytes) {
    LOG.warn(
        "released log that a receiver of a snapshot needs, it is sent another snapshot;"
            + " raise troupe.catch-up-log-bytes remote-peer-id={} index={} log-bytes={}",
        receiver,
        index,
        bytes);
  }

  @Override
  public void receiverLostOnFullDisk(NodeId receiver, long index) {
    LOG.warn(
        "disk is nearly full, released log that a receiver of a snapshot needs, it is sent another"
            + " snapshot remote-peer-id={} index={}",
        receiver,
        index);
  }
}
