package io.troupe.actors.apply;

import io.troupe.metrics.UpkeepMetrics;
import io.troupe.mvcc.Compactor;
import io.troupe.mvcc.HashResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes compacted versions in small batches with pauses (C4), on its own thread, concurrently
 * with the writer. A removal that a stop interrupts continues after the next start.
 *
 * <p>It also has the state before each compaction hashed (MT6), on another executor and one at a
 * time. The removal never waits for a hash, which reads the snapshot that was taken when the
 * compaction was applied. If compactions are applied faster than hashes are computed, some hashes
 * are skipped, but never the newest.
 */
public final class CompactionActor extends AbstractBehavior<CompactionActor.Command> {
  private static final Logger LOG = LoggerFactory.getLogger(CompactionActor.class);

  /** Messages of this actor. */
  public sealed interface Command {}

  /** The store is compacted at {@code revision}; older versions may be removed. */
  public record Moved(long revision) implements Command {}

  /** Completes {@code done} when all compacted versions below {@code revision} are removed. */
  public record Await(long revision, CompletableFuture<Void> done) implements Command {}

  /** A pass of the removal ended. */
  private record Walked(Compactor.@Nullable Progress progress, @Nullable Throwable failure)
      implements Command {}

  private record Hashed(
      long startedNanos, HashResult.@Nullable Hash hash, @Nullable Throwable failure)
      implements Command {}

  /**
   * What this actor uses.
   *
   * @param removal runs the passes of the removal, one at a time, each for seconds
   * @param hash computes the hash of the newest compaction that has none, or returns null if all
   *     have one; slow
   * @param hashing runs the hashes
   * @param finished receives the revision after each compaction that removed something
   * @param metrics of compactions, not of their hashes
   */
  public record Links(
      Compactor compactor,
      Executor removal,
      Supplier<HashResult.@Nullable Hash> hash,
      Executor hashing,
      LongConsumer finished,
      UpkeepMetrics metrics) {}

  /**
   * Rate of the removal.
   *
   * @param batchLimit versions removed in one batch
   * @param pause between two batches
   */
  public record Settings(int batchLimit, Duration pause) {}

  private final Links links;
  private final Settings settings;
  private final List<Await> waiting = new ArrayList<>();

  /** Counted down when this actor stops: interrupts the pause and the pass in progress. */
  private final CountDownLatch stopped = new CountDownLatch(1);

  private boolean walking;
  private boolean moved;
  private boolean hashing;
  private boolean hashAgain;
  private long removed;
  private long startedNanos;

  /**
   * The highest compaction that was logged and counted. An {@code Await} may arrive before the
   * {@code Moved} of the same compaction, which then finds nothing to remove.
   */
  private long reportedRevision = -1;

  private CompactionActor(ActorContext<Command> context, Links links, Settings settings) {
    super(context);
    this.links = links;
    this.settings = settings;
    begin();
  }

  /**
   * The behavior of the actor; it starts with the compactions that an earlier run did not finish.
   */
  public static Behavior<Command> create(Links links, Settings settings) {
    return Behaviors.setup(context -> new CompactionActor(context, links, settings));
  }

  @Override
  public Receive<Command> createReceive() {
    return newReceiveBuilder()
        .onMessage(Moved.class, this::onMoved)
        .onMessage(Hashed.class, this::onHashed)
        .onMessage(Await.class, this::onAwait)
        .onMessage(Walked.class, this::onWalked)
        .onSignal(PostStop.class, signal -> onStop())
        .build();
  }

  private Behavior<Command> onMoved(Moved to) {
    moved = true;
    hash();
    return begin();
  }

  private Behavior<Command> begin() {
    if (!walking) {
      walking = true;
      removed = 0;
      startedNanos = System.nanoTime();
      walk();
    }
    return this;
  }

  private void walk() {
    getContext()
        .pipeToSelf(
            CompletableFuture.supplyAsync(
                () -> links.compactor().remove(settings.batchLimit(), new Steps()),
                links.removal()),
            Walked::new);
  }

  /** Runs on the removal thread: measures each batch and pauses after it. */
  private final class Steps implements Compactor.Pace {
    private long batchNanos = System.nanoTime();

    @Override
    public boolean goesOnAfter(long versions) {
      links.metrics().compactionStep(versions, System.nanoTime() - batchNanos);
      try {
        return !stopped.await(settings.pause().toNanos(), TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        // The actor system stops.
        Thread.currentThread().interrupt();
        return false;
      } finally {
        batchNanos = System.nanoTime();
      }
    }
  }

  private Behavior<Command> onAwait(Await await) {
    waiting.add(await);
    return begin();
  }

  private Behavior<Command> onWalked(Walked walked) {
    Compactor.Progress progress = walked.progress();
    if (progress == null) {
      // The store cannot be written, so the member must not continue.
      throw new CompletionException(walked.failure());
    }
    removed += progress.removed();
    waiting.removeIf(
        await -> await.revision() <= progress.finishedRevision() && await.done().complete(null));
    if (!progress.done()) {
      walk();
      return this;
    }
    walking = false;
    if (removed > 0) {
      links.finished().accept(progress.finishedRevision());
    }
    if (removed > 0 || (moved && progress.finishedRevision() > reportedRevision)) {
      reportedRevision = progress.finishedRevision();
      long nanos = System.nanoTime() - startedNanos;
      links.metrics().compacted(nanos, System.currentTimeMillis() / 1000);
      LOG.info(
          "finished scheduled compaction compact-revision={} number-of-keys-compacted={} took-ms={}",
          progress.finishedRevision(),
          removed,
          nanos / 1_000_000);
    }
    moved = false;
    return this;
  }

  private Behavior<Command> onStop() {
    stopped.countDown();
    return this;
  }

  private void hash() {
    // The hash in progress may have been selected before the newest compaction was applied.
    hashAgain = hashing;
    if (hashing) {
      return;
    }
    hashing = true;
    long started = System.nanoTime();
    getContext()
        .pipeToSelf(
            CompletableFuture.supplyAsync(links.hash(), links.hashing()),
            (hash, failure) -> new Hashed(started, hash, failure));
  }

  private Behavior<Command> onHashed(Hashed hashed) {
    if (hashed.failure() != null) {
      // The store cannot be read: as after a failed removal, the member must not continue.
      throw new CompletionException(hashed.failure());
    }
    HashResult.Hash hash = hashed.hash();
    if (hash != null) {
      LOG.info(
          "storing new hash hash={} revision={} compact-revision={} took-ms={}",
          Integer.toUnsignedLong(hash.hash()),
          hash.hashRevision(),
          hash.compactRevision(),
          (System.nanoTime() - hashed.startedNanos()) / 1_000_000);
    }
    hashing = false;
    if (hashAgain) {
      hash();
    }
    return this;
  }
}
