package io.troupe.actors.apply;

import io.troupe.mvcc.Compactor;
import io.troupe.mvcc.HashAnswer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
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
 * Frees what compaction left behind, in small steps with pauses (C4), beside the writer. What a
 * stop interrupts goes on after the next start.
 *
 * <p>After each compaction it has the content hashed (MT6), elsewhere and one at a time. Steps
 * never wait for a hash. If compactions finish faster than hashes, those that finished meanwhile
 * are passed over but for the last; a hash that began always ends, because it reads a frozen view.
 */
public final class CompactionActor extends AbstractBehavior<CompactionActor.Command> {
  private static final Logger LOG = LoggerFactory.getLogger(CompactionActor.class);
  private static final long NONE = Long.MIN_VALUE;

  /** What this room takes. */
  public sealed interface Command {}

  /** Keys below {@code revision} may go. */
  public record Moved(long revision) implements Command {}

  /** Completes {@code done} when everything below {@code revision} is gone. */
  public record Await(long revision, CompletableFuture<Void> done) implements Command {}

  private enum Step implements Command {
    INSTANCE
  }

  private record Hashed(
      long revision, long startedNanos, @Nullable HashAnswer answer, @Nullable Throwable failure)
      implements Command {}

  /**
   * What this room works with.
   *
   * @param hash hashes the content of a revision; slow
   * @param hashing where hashes run
   * @param finished told after each compaction that removed something
   */
  public record Links(
      Compactor compactor,
      LongFunction<HashAnswer> hash,
      Executor hashing,
      LongConsumer finished) {}

  /**
   * Pace.
   *
   * @param batchLimit changes looked at in one step
   * @param pause between two steps
   */
  public record Settings(int batchLimit, Duration pause) {}

  private final TimerScheduler<Command> timers;
  private final Links links;
  private final Settings settings;
  private final List<Await> waiting = new ArrayList<>();
  private boolean stepping;
  private boolean moved;
  private boolean hashing;
  private long lastFinished = NONE;
  private long toHash = NONE;
  private long removed;
  private long startedNanos;

  private CompactionActor(
      ActorContext<Command> context,
      TimerScheduler<Command> timers,
      Links links,
      Settings settings) {
    super(context);
    this.timers = timers;
    this.links = links;
    this.settings = settings;
    begin();
  }

  /** The room's behaviour; begins with what an earlier run left. */
  public static Behavior<Command> create(Links links, Settings settings) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(timers -> new CompactionActor(context, timers, links, settings)));
  }

  @Override
  public Receive<Command> createReceive() {
    return newReceiveBuilder()
        .onMessage(Moved.class, this::onMoved)
        .onMessage(Hashed.class, this::onHashed)
        .onMessage(Await.class, this::onAwait)
        .onMessageEquals(Step.INSTANCE, this::onStep)
        .build();
  }

  private Behavior<Command> onMoved(Moved to) {
    moved = true;
    return begin();
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
    Compactor.Progress progress = links.compactor().removeBatch(settings.batchLimit());
    removed += progress.removed();
    waiting.removeIf(
        await -> await.revision() <= progress.finishedRevision() && await.done().complete(null));
    if (!progress.done()) {
      next();
      return this;
    }
    stepping = false;
    // At a start nothing may be left to do: then there is nothing new to hash either.
    if ((moved || removed > 0) && progress.finishedRevision() != lastFinished) {
      lastFinished = progress.finishedRevision();
      toHash = lastFinished;
      hashNext();
    }
    if (removed > 0) {
      links.finished().accept(progress.finishedRevision());
    }
    if (moved || removed > 0) {
      LOG.info(
          "finished scheduled compaction compact-revision={} number-of-keys-compacted={} took-ms={}",
          progress.finishedRevision(),
          removed,
          (System.nanoTime() - startedNanos) / 1_000_000);
    }
    moved = false;
    return this;
  }

  private void next() {
    if (settings.pause().isZero()) {
      getContext().getSelf().tell(Step.INSTANCE);
    } else {
      timers.startSingleTimer(Step.INSTANCE, settings.pause());
    }
  }

  private void hashNext() {
    if (hashing || toHash == NONE) {
      return;
    }
    hashing = true;
    long revision = toHash;
    toHash = NONE;
    long started = System.nanoTime();
    getContext()
        .pipeToSelf(
            CompletableFuture.supplyAsync(() -> links.hash().apply(revision), links.hashing()),
            (answer, failure) -> new Hashed(revision, started, answer, failure));
  }

  private Behavior<Command> onHashed(Hashed hashed) {
    if (hashed.failure() != null) {
      // A store that cannot be read: as with a step that fails, the member must not go on.
      throw new CompletionException(hashed.failure());
    }
    if (hashed.answer() instanceof HashAnswer.Hash hash) {
      LOG.info(
          "hashed compacted state compact-revision={} hash={} took-ms={}",
          hashed.revision(),
          Integer.toHexString(hash.hash()),
          (System.nanoTime() - hashed.startedNanos()) / 1_000_000);
    } else {
      LOG.info("compacted again before it was hashed compact-revision={}", hashed.revision());
    }
    hashing = false;
    hashNext();
    return this;
  }
}
