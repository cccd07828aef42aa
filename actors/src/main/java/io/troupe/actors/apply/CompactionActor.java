package io.troupe.actors.apply;

import io.troupe.metrics.UpkeepMetrics;
import io.troupe.mvcc.CompactionCore;
import io.troupe.mvcc.Compactor;
import io.troupe.mvcc.HashResult;
import java.time.Duration;
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
 * Runs {@link CompactionCore}: removes compacted versions in small batches with pauses (C4), on its
 * own thread, concurrently with the writer, and has the state before each compaction hashed (MT6),
 * on another executor. A removal that a stop interrupts continues after the next start.
 */
public final class CompactionActor extends AbstractBehavior<CompactionActor.Command>
    implements CompactionCore.Effects<CompletableFuture<Void>> {
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
  private final CompactionCore<CompletableFuture<Void>> core;

  /** Counted down when this actor stops: interrupts the pause and the pass in progress. */
  private final CountDownLatch stopped = new CountDownLatch(1);

  private long startedNanos;

  private CompactionActor(ActorContext<Command> context, Links links, Settings settings) {
    super(context);
    this.links = links;
    this.settings = settings;
    this.core = new CompactionCore<>(this);
    core.start();
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
        .onMessage(Moved.class, m -> feed(core::moved))
        .onMessage(Hashed.class, this::onHashed)
        .onMessage(Await.class, m -> feed(() -> core.await(m.revision(), m.done())))
        .onMessage(Walked.class, this::onWalked)
        .onSignal(PostStop.class, signal -> onStop())
        .build();
  }

  private Behavior<Command> feed(Runnable input) {
    input.run();
    return this;
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

  private Behavior<Command> onWalked(Walked walked) {
    Compactor.Progress progress = walked.progress();
    if (progress == null) {
      // The store cannot be written, so the member must not continue.
      throw new CompletionException(walked.failure());
    }
    return feed(() -> core.passed(progress));
  }

  private Behavior<Command> onStop() {
    stopped.countDown();
    return this;
  }

  private Behavior<Command> onHashed(Hashed hashed) {
    if (hashed.failure() != null) {
      // The store cannot be read: as after a failed removal, the member must not continue.
      throw new CompletionException(hashed.failure());
    }
    HashResult.Hash hash = hashed.hash();
    if (hash != null) {
      LOG.info(
          "storing new hash hash={} revision={} compact-revision={} took={}",
          Integer.toUnsignedLong(hash.hash()),
          hash.hashRevision(),
          hash.compactRevision(),
          Duration.ofMillis((System.nanoTime() - hashed.startedNanos()) / 1_000_000));
    }
    return feed(core::hashed);
  }

  // ---- effects

  @Override
  public void startPass(boolean first) {
    if (first) {
      startedNanos = System.nanoTime();
    }
    getContext()
        .pipeToSelf(
            CompletableFuture.supplyAsync(
                () -> links.compactor().remove(settings.batchLimit(), new Steps()),
                links.removal()),
            Walked::new);
  }

  @Override
  public void startHash() {
    long started = System.nanoTime();
    getContext()
        .pipeToSelf(
            CompletableFuture.supplyAsync(links.hash(), links.hashing()),
            (hash, failure) -> new Hashed(started, hash, failure));
  }

  @Override
  public void removed(CompletableFuture<Void> caller) {
    caller.complete(null);
  }

  @Override
  public void finished(long revision) {
    links.finished().accept(revision);
  }

  @Override
  public void report(long revision, long removed) {
    long nanos = System.nanoTime() - startedNanos;
    links.metrics().compacted(nanos, System.currentTimeMillis() / 1000);
    LOG.info(
        "finished scheduled compaction compact-revision={} number-of-keys-compacted={} took={}",
        revision,
        removed,
        Duration.ofMillis(nanos / 1_000_000));
  }
}
