package io.troupe.actors.apply;

import io.troupe.mvcc.Compactor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Frees what compaction left behind, in small steps with pauses (C4), beside the writer. What a
 * stop interrupts goes on after the next start.
 */
public final class CompactionActor extends AbstractBehavior<CompactionActor.Command> {
  private static final Logger LOG = LoggerFactory.getLogger(CompactionActor.class);

  /** What this room takes. */
  public sealed interface Command {}

  /** Keys below {@code revision} may go. */
  public record Moved(long revision) implements Command {}

  /** Completes {@code done} when everything below {@code revision} is gone. */
  public record Await(long revision, CompletableFuture<Void> done) implements Command {}

  private enum Step implements Command {
    INSTANCE
  }

  /**
   * Pace.
   *
   * @param batchLimit changes looked at in one step
   * @param pause between two steps
   */
  public record Settings(int batchLimit, Duration pause) {}

  private final TimerScheduler<Command> timers;
  private final Compactor compactor;
  private final Settings settings;
  private final List<Await> waiting = new ArrayList<>();
  private boolean stepping;
  private long removed;
  private long startedNanos;

  private CompactionActor(
      ActorContext<Command> context,
      TimerScheduler<Command> timers,
      Compactor compactor,
      Settings settings) {
    super(context);
    this.timers = timers;
    this.compactor = compactor;
    this.settings = settings;
    begin();
  }

  /** The room's behaviour; begins with what an earlier run left. */
  public static Behavior<Command> create(Compactor compactor, Settings settings) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers -> new CompactionActor(context, timers, compactor, settings)));
  }

  @Override
  public Receive<Command> createReceive() {
    return newReceiveBuilder()
        .onMessage(Moved.class, moved -> begin())
        .onMessage(Await.class, this::onAwait)
        .onMessageEquals(Step.INSTANCE, this::onStep)
        .build();
  }

  private Behavior<Command> begin() {
    if (!stepping) {
      stepping = true;
      removed = 0;
      startedNanos = System.nanoTime();
      getContext().getSelf().tell(Step.INSTANCE);
    }
    return this;
  }

  private Behavior<Command> onAwait(Await await) {
    waiting.add(await);
    return begin();
  }

  private Behavior<Command> onStep() {
    Compactor.Progress progress = compactor.removeBatch(settings.batchLimit());
    removed += progress.removed();
    waiting.removeIf(
        await -> await.revision() <= progress.finishedRevision() && await.done().complete(null));
    if (!progress.done()) {
      next();
      return this;
    }
    stepping = false;
    if (removed > 0) {
      LOG.info(
          "finished scheduled compaction compact-revision={} removed={} took-ms={}",
          progress.finishedRevision(),
          removed,
          (System.nanoTime() - startedNanos) / 1_000_000);
    }
    return this;
  }

  private void next() {
    if (settings.pause().isZero()) {
      getContext().getSelf().tell(Step.INSTANCE);
    } else {
      timers.startSingleTimer(Step.INSTANCE, settings.pause());
    }
  }
}
