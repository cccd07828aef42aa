package io.troupe.actors.snapshot;

import io.troupe.actors.member.MemberFiles;
import io.troupe.machine.StateView;
import io.troupe.model.AlarmType;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.RequestId;
import io.troupe.persistence.snapshot.SnapshotException;
import io.troupe.persistence.snapshot.SnapshotPlugin;
import io.troupe.persistence.snapshot.SnapshotRef;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.RequestIds;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.WalCommand;
import io.troupe.protocol.codec.OperationCodec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
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
 * Makes a checkpoint of the state when one is due, saves it through the persistence plugin, and
 * only then lets the log go up to there. One at a time, and not more often than the settings say:
 * what falls due meanwhile waits, the newest wins.
 *
 * <p>Snapshots hold on to disk space: to log segments by being too old, to deleted table files by
 * sharing them. So one is also taken on demand ({@link SnapshotCommand.Reclaim}), and while the
 * disk is nearly full all but the newest are given up.
 */
public final class SnapshotActor extends AbstractBehavior<SnapshotCommand> {
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotActor.class);
  private static final Duration APPEND_TIMEOUT = Duration.ofSeconds(5);

  private enum Rested implements SnapshotCommand.Private {
    INSTANCE
  }

  private enum LookAtDisk implements SnapshotCommand.Private {
    INSTANCE
  }

  private record Saved(long index, long startedNanos, @Nullable Throwable failure)
      implements SnapshotCommand.Private {}

  /** However it ended: if the entry was not applied, the next look asks again. */
  private record Appended(@Nullable Throwable failure) implements SnapshotCommand.Private {}

  private record GivenUp(long below, @Nullable Throwable failure)
      implements SnapshotCommand.Private {}

  private record LetGo(NodeId to, long transfer) implements SnapshotCommand.Private {}

  /**
   * A transfer ended.
   *
   * @param transfer number of the transfer, from {@link SnapshotCommand.Send}
   * @param ok true if the follower has the content
   */
  record TransferOver(NodeId to, long transfer, boolean ok) implements SnapshotCommand.Private {}

  /** A follower that gets a snapshot, whose index is the last one that the log may lose. */
  private record Hold(long transfer, long index) {}

  /** Whom this room speaks to. */
  public record Links(
      ActorRef<WalCommand> wal,
      ActorRef<RaftCommand> raft,
      ActorRef<TransferCommand> transfers,
      DiskRoom disk,
      RequestIds ids) {}

  /**
   * Pace.
   *
   * @param minInterval least time between the ends of two snapshots
   * @param lookAtDisk time between two looks at the free space
   * @param catchUpEntries entries below a snapshot that the log keeps for followers that are a bit
   *     behind, 0 or more
   */
  public record Settings(Duration minInterval, Duration lookAtDisk, long catchUpEntries) {}

  /** Time for a follower to get on from its new snapshot before the log behind that goes. */
  private static final Duration HOLD = Duration.ofSeconds(30);

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

  /** Index of the newest snapshot that this process saved; before one, where the state began. */
  private long newest;

  private boolean newestIsOwn;

  /** Whom a snapshot is still to be found for. */
  private final Map<NodeId, SnapshotCommand.Send> toSend = new LinkedHashMap<>();

  /** By follower, the index of the snapshot that it gets: the log stays from there on. */
  private final Map<NodeId, Hold> held = new HashMap<>();

  /** The log was let go up to there. */
  private long released;

  private boolean olderExist = true;
  private boolean givingUp;
  private boolean complained;

  private SnapshotActor(
      ActorContext<SnapshotCommand> context,
      TimerScheduler<SnapshotCommand> timers,
      MemberFiles files,
      SnapshotPlugin plugin,
      Settings settings,
      Links links,
      long startedAt) {
    super(context);
    this.timers = timers;
    this.files = files;
    this.settings = settings;
    this.links = links;
    this.plugin = plugin;
    this.newest = startedAt;
    timers.startTimerWithFixedDelay(LookAtDisk.INSTANCE, settings.lookAtDisk());
  }

  /**
   * The room's behaviour; called before anything is applied.
   *
   * @param plugin of the actor system; outlives the room
   */
  public static Behavior<SnapshotCommand> create(
      MemberFiles files, SnapshotPlugin plugin, Settings settings, Links links) {
    long startedAt = files.machine().view().appliedIndex();
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers ->
                    new SnapshotActor(context, timers, files, plugin, settings, links, startedAt)));
  }

  @Override
  public Receive<SnapshotCommand> createReceive() {
    return newReceiveBuilder()
        .onMessage(SnapshotCommand.Due.class, this::onDue)
        .onMessageEquals(SnapshotCommand.Reclaim.INSTANCE, this::onReclaim)
        .onMessage(Appended.class, this::onAppended)
        .onMessageEquals(LookAtDisk.INSTANCE, this::onLookAtDisk)
        .onMessage(Saved.class, this::onSaved)
        .onMessage(GivenUp.class, this::onGivenUp)
        .onMessage(SnapshotCommand.Send.class, this::onSend)
        .onMessage(TransferOver.class, this::onTransferOver)
        .onMessage(LetGo.class, this::onLetGo)
        .onMessageEquals(Rested.INSTANCE, this::onRested)
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

  private Behavior<SnapshotCommand> onLookAtDisk() {
    boolean low = links.disk().isLow();
    if (low) {
      giveUpOlder();
      releaseLog();
      rewritten |= newestHoldsRewritten();
    } else {
      complained = false;
    }
    reclaim |= low || rewritten;
    startTransfers();
    return work();
  }

  /**
   * The state rewrites its files whenever it sees fit, and the newest snapshot then holds the old
   * ones. Where nobody can write because the disk is full, nothing else would ever replace it.
   */
  private boolean newestHoldsRewritten() {
    if (!newestIsOwn) {
      return false;
    }
    try {
      return plugin
          .directory()
          .latest(newest)
          .map(ref -> plugin.directory().bytesNotIn(ref, files.dataDir().state()) > 0)
          .orElse(false);
    } catch (SnapshotException e) {
      // Perhaps a newer one replaces it just now; the next look finds that.
      LOG.debug("snapshots cannot be read: {}", e.getMessage());
      return false;
    }
  }

  /** Takes what is wanted unless something is under way; that calls again at its end. */
  private Behavior<SnapshotCommand> work() {
    if (busy) {
      return this;
    }
    SnapshotCommand.Due due = waiting;
    waiting = null;
    if (reclaim || !toSend.isEmpty()) {
      reclaim = false;
      // What is applied now covers what fell due before.
      StateView now = files.machine().view();
      due = new SnapshotCommand.Due(now.appliedIndex(), now.appliedTerm());
      if (due.index() <= newest && rewritten && links.disk().isLow()) {
        append();
      }
    }
    if (due != null && (due.index() > newest || hasNoneToSend(due.index())) && fits()) {
      take();
    }
    return this;
  }

  /**
   * A follower waits and no snapshot holds what is applied. A member that just started has applied
   * nothing since, and its next entry may need this very follower to be committed.
   */
  private boolean hasNoneToSend(long applied) {
    if (toSend.isEmpty()) {
      return false;
    }
    try {
      return plugin
          .directory()
          .latest(Long.MAX_VALUE)
          .map(ref -> ref.index() < applied)
          .orElse(true);
    } catch (SnapshotException e) {
      // One was removed meanwhile, or the disk does not answer; the next look decides.
      LOG.debug("snapshots cannot be read: {}", e.getMessage());
      return false;
    }
  }

  /**
   * Has an entry appended that changes nothing. Rewriting files applies no entry, a snapshot is
   * named by its index, and on a full disk there may be nobody whose writes bring another one.
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
      LOG.debug("no entry for a snapshot yet: {}", ended.failure().toString());
    }
    return this;
  }

  /**
   * A checkpoint writes out what the state has in memory. On a disk without room for that it would
   * end the member; space that others free, or the next look, may help.
   */
  private boolean fits() {
    if (!links.disk().isLow()) {
      return true;
    }
    long unwritten = files.store().unwrittenBytes();
    long free = links.disk().freeBytes();
    if (unwritten <= free) {
      return true;
    }
    if (!complained) {
      complained = true;
      LOG.warn(
          "no room for a snapshot that would give space back free-bytes={} needed-bytes={}",
          free,
          unwritten);
    }
    return false;
  }

  /**
   * Entries that are applied meanwhile may be in the checkpoint too: what it holds is read from it.
   */
  private void take() {
    busy = true;
    rewritten = false;
    long started = System.nanoTime();
    Path made = plugin.directory().prepareUnnamed();
    files.store().checkpoint(made);
    files.metrics().disk().snapshotMade(System.nanoTime() - started);
    SnapshotPosition at = SnapshotPosition.of(made);
    Path content = plugin.directory().nameMade(at.index(), at.term());
    SnapshotRef ref = new SnapshotRef(at.index(), at.term(), at.membership(), content);
    getContext()
        .pipeToSelf(plugin.save(ref), (done, failure) -> new Saved(at.index(), started, failure));
  }

  private Behavior<SnapshotCommand> onSend(SnapshotCommand.Send send) {
    toSend.put(send.to(), send);
    startTransfers();
    return work();
  }

  /** Sends the newest snapshot to whoever it does for; the others wait for the next one. */
  private void startTransfers() {
    if (toSend.isEmpty()) {
      return;
    }
    SnapshotRef newestRef;
    try {
      newestRef = plugin.directory().latest(Long.MAX_VALUE).orElse(null);
    } catch (SnapshotException e) {
      // Perhaps it was removed just now, for a newer one; the next look finds that.
      LOG.debug("snapshots cannot be read: {}", e.getMessage());
      return;
    }
    if (newestRef == null || newestRef.membership().isEmpty()) {
      return;
    }
    SnapshotRef ref = newestRef;
    toSend
        .values()
        .removeIf(
            send -> {
              boolean does = ref.index() >= send.atLeast();
              if (does) {
                held.put(send.to(), new Hold(send.transfer(), ref.index()));
                links
                    .transfers()
                    .tell(
                        new TransferCommand.Start(
                            send.to(), send.transfer(), send.term(), ref, getContext().getSelf()));
              }
              return does;
            });
  }

  private Behavior<SnapshotCommand> onTransferOver(TransferOver over) {
    LetGo letGo = new LetGo(over.to(), over.transfer());
    timers.startSingleTimer(letGo, letGo, HOLD);
    return this;
  }

  private Behavior<SnapshotCommand> onLetGo(LetGo letGo) {
    Hold hold = held.get(letGo.to());
    if (hold != null && hold.transfer() == letGo.transfer()) {
      held.remove(letGo.to());
      releaseLog();
    }
    return this;
  }

  /**
   * Lets the log go up to the newest snapshot of this process, less what followers may still need.
   * On a nearly full disk they have to take another snapshot instead.
   */
  private void releaseLog() {
    if (!newestIsOwn) {
      return;
    }
    long upTo = newest;
    if (!links.disk().isLow()) {
      upTo -= settings.catchUpEntries();
      for (Hold hold : held.values()) {
        upTo = Math.min(upTo, hold.index());
      }
    }
    if (upTo > released) {
      released = upTo;
      links.raft().tell(new RaftCommand.SnapshotTaken(upTo));
      links.wal().tell(new WalCommand.DropBefore(upTo + 1));
    }
  }

  private Behavior<SnapshotCommand> onSaved(Saved saved) {
    long index = saved.index();
    if (saved.failure() != null) {
      // The log keeps everything that is needed, so the member goes on; the next due snapshot tries
      // again.
      LOG.error("snapshot could not be saved index={}: {}", index, saved.failure().toString());
    } else {
      LOG.info(
          "saved snapshot snapshot-index={} took-ms={}",
          index,
          (System.nanoTime() - saved.startedNanos()) / 1_000_000);
      newest = index;
      newestIsOwn = true;
      olderExist = true;
      releaseLog();
      startTransfers();
    }
    if (settings.minInterval().isZero()) {
      return onRested();
    }
    timers.startSingleTimer(Rested.INSTANCE, settings.minInterval());
    return this;
  }

  /**
   * Leaves the newest snapshot alone on the disk. Only if this process saved it: one from an
   * earlier run may have been damaged since, and then an older one is the last good one.
   */
  private void giveUpOlder() {
    if (!newestIsOwn || !olderExist || givingUp) {
      return;
    }
    givingUp = true;
    long below = newest;
    getContext()
        .pipeToSelf(plugin.deleteBefore(below), (done, failure) -> new GivenUp(below, failure));
  }

  private Behavior<SnapshotCommand> onGivenUp(GivenUp ended) {
    givingUp = false;
    if (ended.failure() != null) {
      LOG.error("older snapshots could not be removed: {}", ended.failure().toString());
    } else {
      LOG.info("disk is nearly full, gave up snapshots below snapshot-index={}", ended.below());
      olderExist = newest != ended.below();
    }
    return this;
  }

  private Behavior<SnapshotCommand> onRested() {
    busy = false;
    return work();
  }
}
