package io.troupe.actors.snapshot;

import io.troupe.actors.member.MemberFiles;
import io.troupe.model.Bytes;
import io.troupe.persistence.snapshot.SnapshotPlugin;
import io.troupe.persistence.snapshot.SnapshotRef;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.WalCommand;
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
 * Makes a checkpoint of the state when one is due, saves it through the persistence plugin, and
 * only then lets the log go up to there. One at a time, and not more often than the settings say:
 * what falls due meanwhile waits, the newest wins.
 */
public final class SnapshotActor extends AbstractBehavior<SnapshotCommand> {
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotActor.class);

  private enum Rested implements SnapshotCommand.Private {
    INSTANCE
  }

  private record Saved(SnapshotCommand.Due due, long startedNanos, @Nullable Throwable failure)
      implements SnapshotCommand.Private {}

  /** Whom this room speaks to. */
  public record Links(ActorRef<WalCommand> wal, ActorRef<RaftCommand> raft) {}

  private final TimerScheduler<SnapshotCommand> timers;
  private final MemberFiles files;
  private final SnapshotPlugin plugin;
  private final Duration minInterval;
  private final Links links;
  private SnapshotCommand.@Nullable Due waiting;
  private boolean busy;

  private SnapshotActor(
      ActorContext<SnapshotCommand> context,
      TimerScheduler<SnapshotCommand> timers,
      MemberFiles files,
      Duration minInterval,
      Links links) {
    super(context);
    this.timers = timers;
    this.files = files;
    this.minInterval = minInterval;
    this.links = links;
    this.plugin =
        SnapshotPlugin.start(
            context.getSystem(),
            files.dataDir().snapshots(),
            files.identity().memberId().toString());
  }

  /**
   * The room's behaviour.
   *
   * @param minInterval least time between the ends of two snapshots
   */
  public static Behavior<SnapshotCommand> create(
      MemberFiles files, Duration minInterval, Links links) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers -> new SnapshotActor(context, timers, files, minInterval, links)));
  }

  @Override
  public Receive<SnapshotCommand> createReceive() {
    return newReceiveBuilder()
        .onMessage(SnapshotCommand.Due.class, this::onDue)
        .onMessage(Saved.class, this::onSaved)
        .onMessageEquals(Rested.INSTANCE, this::onRested)
        .build();
  }

  private Behavior<SnapshotCommand> onDue(SnapshotCommand.Due due) {
    waiting = due;
    if (!busy) {
      take(due);
    }
    return this;
  }

  /**
   * The checkpoint holds at least everything up to the index: entries applied meanwhile may be in
   * it too.
   */
  private void take(SnapshotCommand.Due due) {
    waiting = null;
    busy = true;
    long started = System.nanoTime();
    Path content = plugin.directory().prepare(due.index(), due.term());
    files.store().checkpoint(content);
    Bytes membership = files.machine().view().membership();
    SnapshotRef ref =
        new SnapshotRef(
            due.index(), due.term(), membership == null ? Bytes.EMPTY : membership, content);
    getContext().pipeToSelf(plugin.save(ref), (done, failure) -> new Saved(due, started, failure));
  }

  private Behavior<SnapshotCommand> onSaved(Saved saved) {
    long index = saved.due().index();
    if (saved.failure() != null) {
      // The log keeps everything that is needed, so the member goes on; the next due snapshot tries
      // again.
      LOG.error("snapshot could not be saved index={}: {}", index, saved.failure().toString());
    } else {
      LOG.info(
          "saved snapshot snapshot-index={} took-ms={}",
          index,
          (System.nanoTime() - saved.startedNanos()) / 1_000_000);
      links.raft().tell(new RaftCommand.SnapshotTaken(index));
      links.wal().tell(new WalCommand.DropBefore(index + 1));
    }
    if (minInterval.isZero()) {
      return onRested();
    }
    timers.startSingleTimer(Rested.INSTANCE, minInterval);
    return this;
  }

  private Behavior<SnapshotCommand> onRested() {
    busy = false;
    SnapshotCommand.Due due = waiting;
    if (due != null) {
      take(due);
    }
    return this;
  }
}
