package io.troupe.server;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.Scheduler;
import scala.concurrent.ExecutionContext;

/**
 * An operation that is repeated until it succeeds, fails permanently, or its time limit expires. At
 * most one attempt runs at a time; each attempt ends with a call of one of the methods.
 */
final class Retry<T> {
  private final Scheduler scheduler;
  private final Executor executor;
  private final Consumer<Retry<T>> body;
  private final long endNanos;
  private final CompletableFuture<T> outcome = new CompletableFuture<>();

  private Retry(Scheduler scheduler, Executor executor, Duration limit, Consumer<Retry<T>> body) {
    this.scheduler = scheduler;
    this.executor = executor;
    this.body = body;
    this.endNanos = System.nanoTime() + limit.toNanos();
  }

  /**
   * Starts the operation.
   *
   * @param limit time for all attempts together
   * @param whenOver the failure after the time limit
   * @param body one attempt; an exception of it is permanent
   */
  static <T> CompletionStage<T> run(
      Member member,
      Duration limit,
      Supplier<? extends Throwable> whenOver,
      Consumer<Retry<T>> body) {
    return runAfter(Duration.ZERO, member, limit, whenOver, body);
  }

  /**
   * The same for an operation whose first attempt was made without this class: the next one follows
   * after a pause.
   */
  static <T> CompletionStage<T> runAfter(
      Duration pause,
      Member member,
      Duration limit,
      Supplier<? extends Throwable> whenOver,
      Consumer<Retry<T>> body) {
    Retry<T> attempts = new Retry<>(member.scheduler(), member.reads().points(), limit, body);
    Cancellable end =
        attempts.scheduler.scheduleOnce(
            limit,
            () -> attempts.outcome.completeExceptionally(whenOver.get()),
            ExecutionContext.parasitic$.MODULE$);
    if (pause.isZero()) {
      attempts.attempt();
    } else {
      attempts.againAfter(pause);
    }
    CompletionStage<T> outcome = attempts.outcome;
    return outcome.whenComplete((result, failure) -> end.cancel());
  }

  private void attempt() {
    if (outcome.isDone()) {
      return;
    }
    try {
      body.accept(this);
    } catch (RuntimeException failure) {
      outcome.completeExceptionally(failure);
    }
  }

  /** Tries again now. */
  void again() {
    executor.execute(this::attempt);
  }

  /** Tries again after a pause. */
  void againAfter(Duration pause) {
    scheduler.scheduleOnce(pause, this::again, ExecutionContext.parasitic$.MODULE$);
  }

  /** Tries again when {@code condition} completes; cancels it if the time limit expires first. */
  void againWhen(CompletableFuture<?> condition) {
    CompletionStage<?> ended = condition;
    ended.whenComplete((value, failure) -> again());
    CompletionStage<T> done = outcome;
    done.whenComplete((value, failure) -> condition.cancel(false));
  }

  void succeed(T result) {
    outcome.complete(result);
  }

  void fail(Throwable failure) {
    outcome.completeExceptionally(failure);
  }

  /** The remaining time, at most {@code most} and at least a millisecond. */
  Duration timeLeft(Duration most) {
    long left = Math.max(endNanos - System.nanoTime(), 1_000_000);
    return left < most.toNanos() ? Duration.ofNanos(left) : most;
  }
}
