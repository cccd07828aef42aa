package io.troupe.actors.snapshot;

import io.troupe.actors.member.MemberFiles;
import io.troupe.machine.StateView;
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
import io.troupe.persistence.wal.LogExtent;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReplicationReply;
import io.troupe.protocol.RequestIds;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.WalCommand;
import io.troupe.protocol.codec.OperationCodec;
import io.troupe.raft.ReplicationStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
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
 * Creates a checkpoint of the state when one is due, saves it through the persistence plugin, and
 * only then releases the log up to it. Takes one snapshot at a time, and not more often than the
 * settings allow. A snapshot that becomes due meanwhile waits; the newest request replaces earlier
 * ones.
 *
 * <p>Snapshots keep disk space allocated: log segments that follow an old snapshot, and deleted
 * table files that a snapshot shares. So a snapshot is also taken on demand ({@link
 * SnapshotCommand.Reclaim}), and while the disk is nearly full all but the newest are deleted.
 */
public final class SnapshotActor extends AbstractBehavior<SnapshotCommand> {
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
  private SnapshotCommand.@Nullable Due waiting;
  private boolean reclaim;

  /** Files were rewritten since the newest snapshot, which still shares the old ones. */
  private boolean rewritten;

  private boolean appending;
  private boolean busy;

  private final KnownSnapshots known;
  private final WaitingFollowers waitingFollowers = new WaitingFollowers();
  private final LogRetention retention;
  private final ActorRef<ReplicationReply> replication;

  /** Last index that was released from the log. */
  private long released;

  /** Applied index when the last Discard was sent to the transfer actor; -1 at first. */
  private long discarded = -1;

  private boolean olderExist = true;
  private boolean deletingOlder;
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
    this.retention =
        new LogRetention(
            new LogRetention.Limits(
                settings.catchUpEntries(),
                settings.snapshots().logBytes() / 2,
                settings.snapshots().receiverLogBytes()));
    this.replication =
        context.messageAdapter(ReplicationReply.class, reply -> new Replicated(reply.status()));
    this.known = new KnownSnapshots(plugin.directory(), files.dataDir().state());
    known.read(files.machine().view().appliedIndex());
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

  private Behavior<SnapshotCommand> onDue(SnapshotCommand.Due due) {
    waiting = due;
    return work();
  }

  private Behavior<SnapshotCommand> onReclaim() {
    rewritten = true;
    reclaim = true;
    return work();
  }

  private Behavior<SnapshotCommand> onDiskCheck() {
    links.disk().keepReserve();
    boolean low = links.disk().isLow();
    if (low) {
      deleteOlder();
      rewritten |= known.newestHoldsRewritten();
    }
    discardReceived(low);
    if (retention.hasReceivers()) {
      links.raft().tell(new RaftCommand.GetReplication(replication));
    }
    known.readIndexes();
    releaseLog();
    reclaim |= low || rewritten || isOverdue();
    startTransfers();
    return work();
  }

  /**
   * Returns true if the log after the newest snapshot is long. Entries are counted here too,
   * because entries of an earlier process count. Otherwise a member that restarts often would never
   * take a snapshot.
   */
  private boolean isOverdue() {
    LogExtent log = files.logExtent();
    long newest = known.newest();
    return files.machine().view().appliedIndex() - newest >= settings.snapshots().entries()
        || log.bytesAfter(newest) >= settings.snapshots().logBytes()
        || log.segmentsAfter(newest) >= MAX_SEGMENTS;
  }

  /**
   * Takes a requested snapshot unless one is in progress, which calls this method again when it
   * ends.
   */
  private Behavior<SnapshotCommand> work() {
    if (busy) {
      return this;
    }
    SnapshotCommand.Due due = waiting;
    waiting = null;
    if (reclaim || !waitingFollowers.isEmpty()) {
      reclaim = false;
      // The state of now covers all earlier requests.
      StateView now = files.machine().view();
      due = new SnapshotCommand.Due(now.appliedIndex(), now.appliedTerm());
      if (due.index() <= known.newest() && rewritten && links.disk().isLow()) {
        append();
      }
    }
    if (due != null && due.index() > known.newest() && fits()) {
      take(due.index());
    }
    return this;
  }

  /**
   * Proposes an entry that changes nothing. Rewriting files applies no entry, a snapshot is named
   * by its index, and on a full disk possibly no client writes another entry.
   */
  private void append() {
    if (appending) {
      return;
    }
    appending = true;
    RequestId id = links.ids().next();
    getContext()
        .ask(
            ProposeReply.class,
            links.raft(),
            APPEND_TIMEOUT,
            replyTo ->
                new RaftCommand.Propose(
                    id, OperationCodec.encode(id, new Operation.AlarmGet(AlarmType.NONE)), replyTo),
            (reply, failure) -> new Appended(failure));
  }

  private Behavior<SnapshotCommand> onAppended(Appended ended) {
    appending = false;
    if (ended.failure() != null) {
      LOG.debug("failed to append an entry for a snapshot: {}", ended.failure().toString());
    }
    return this;
  }

  /**
   * Returns true if the checkpoint fits on the disk. A checkpoint writes the in-memory part of the
   * state to disk. Without space for that the state refuses further writes, which stops the member.
   * The next check tries again.
   */
  private boolean fits() {
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

  /**
   * Takes a snapshot of the state, applied at least up to {@code index}. A full disk does not stop
   * the member: the state works without the checkpoint, and the log keeps all entries.
   */
  private void take(long index) {
    busy = true;
    boolean wasRewritten = rewritten;
    rewritten = false;
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
      rewritten = wasRewritten;
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

  private Behavior<SnapshotCommand> onSend(SnapshotCommand.Send send) {
    waitingFollowers.add(send);
    startTransfers();
    return work();
  }

  /**
   * Sends the newest snapshot to the followers for which it is new enough. The other followers wait
   * for the next snapshot.
   */
  private void startTransfers() {
    if (!waitingFollowers.isEmpty()) {
      known.latest().ifPresent(ref -> waitingFollowers.servedBy(ref).forEach(s -> start(s, ref)));
    }
  }

  private void start(SnapshotCommand.Send send, SnapshotRef ref) {
    retention.sending(send.to(), send.transfer(), ref.index());
    links
        .transfers()
        .tell(
            new TransferCommand.Start(
                send.to(), send.transfer(), send.term(), ref, getContext().getSelf()));
  }

  /**
   * Has partly received snapshots of other members deleted when they are of no use, because they
   * occupy disk space.
   */
  private void discardReceived(boolean low) {
    long applied = files.machine().view().appliedIndex();
    if (low || applied >= discarded + settings.snapshots().entries() || discarded < 0) {
      discarded = applied;
      links.transfers().tell(new TransferCommand.Discard(applied, low));
    }
  }

  private Behavior<SnapshotCommand> onTransferEnded(TransferEnded ended) {
    retention.ended(ended.to(), ended.transfer(), ended.ok());
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
    known.read(files.machine().view().appliedIndex());
    reclaim = true;
    return work();
  }

  private Behavior<SnapshotCommand> onReplicated(Replicated replicated) {
    retention.replicated(replicated.status());
    releaseLog();
    return this;
  }

  /**
   * Releases the log that no snapshot and no follower needs. On a nearly full disk followers need
   * another snapshot instead, and only the newest snapshot can be continued. This requires a
   * snapshot that this process saved: then the state on the disk is at least as new.
   */
  private void releaseLog() {
    long newest = known.newest();
    long upTo;
    if (links.disk().isLow()) {
      upTo = known.newestIsOwn() ? newest : LogRetention.oldestUsable(newest, known.indexes());
      retention.releasedFor(upTo);
    } else {
      upTo = retention.releasable(newest, known.indexes(), files.logExtent());
    }
    LogRetention.Retained retained = retention.retained();
    files
        .metrics()
        .snapshots()
        .logRetained(retained.snapshots(), retained.lagging(), retained.receivers());
    if (upTo > released) {
      released = upTo;
      links.raft().tell(new RaftCommand.SnapshotTaken(upTo));
      links.wal().tell(new WalCommand.DropBefore(upTo + 1));
    }
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
      // The log keeps all needed entries, so the member continues; the next due snapshot tries
      // again.
      LOG.error(
          "cannot save snapshot, log is not truncated snapshot-index={}: {}",
          index,
          saved.failure().toString());
    } else {
      LOG.info(
          "saved snapshot snapshot-index={} took-ms={}",
          index,
          (System.nanoTime() - saved.startedNanos()) / 1_000_000);
      known.saved(index);
      olderExist = true;
      releaseLog();
      startTransfers();
    }
    if (!settings.snapshots().minInterval().isZero()) {
      timers.startSingleTimer(IntervalElapsed.INSTANCE, settings.snapshots().minInterval());
      return this;
    }
    busy = false;
    // After a failure, only the next check tries again.
    return saved.failure() == null ? work() : this;
  }

  private static void throwIfDamaged(@Nullable Throwable failure) {
    for (Throwable t = failure; t != null; t = t.getCause()) {
      if (t instanceof SnapshotException e && e.kind() == SnapshotException.Kind.DAMAGED) {
        throw e;
      }
    }
  }

  /**
   * Deletes all snapshots except the newest. Only if this process saved it: a snapshot from an
   * earlier run may have been damaged since, and then an older one is the last undamaged one.
   */
  private void deleteOlder() {
    if (!known.newestIsOwn() || !olderExist || deletingOlder) {
      return;
    }
    deletingOlder = true;
    long below = known.newest();
    getContext()
        .pipeToSelf(
            plugin.deleteBefore(below), (done, failure) -> new OlderDeleted(below, failure));
  }

  private Behavior<SnapshotCommand> onOlderDeleted(OlderDeleted ended) {
    deletingOlder = false;
    if (ended.failure() != null) {
      LOG.error("cannot remove older snapshots: {}", ended.failure().toString());
    } else {
      LOG.info("disk is nearly full, removed snapshots before snapshot-index={}", ended.below());
      olderExist = known.newest() != ended.below();
      known.readIndexes();
    }
    return this;
  }

  private Behavior<SnapshotCommand> onIntervalElapsed() {
    busy = false;
    return work();
  }
}
