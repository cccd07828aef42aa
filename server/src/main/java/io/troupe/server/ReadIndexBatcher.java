package io.troupe.server;

import io.troupe.model.Refusal;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.RefusedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes reads linearizable: each read waits for a read index round that started after its arrival.
 * Reads that arrive during a round share the next one (G12), so the raft actor receives one message
 * per round, regardless of the number of clients. Thread-safe.
 */
final class ReadIndexBatcher {
  /** The cost of a read, which selects the threads that run it. */
  enum Kind {
    /** A single key, or a status of the member. */
    POINT,
    /** Any number of keys. */
    RANGE,
    /** All content. */
    HASH
  }

  /** Maximum number of point reads of a round that share a task. */
  private static final int READS_PER_TASK = 32;

  private final Member member;
  private final Duration timeout;
  private final Duration tick;
  private List<PendingRead<?>> waiting = new ArrayList<>();
  private boolean running;

  /**
   * Creates a batcher.
   *
   * @param timeout of a round
   * @param tick length of a Raft tick
   */
  ReadIndexBatcher(Member member, Duration timeout, Duration tick) {
    this.member = member;
    this.timeout = timeout;
    this.tick = tick;
  }

  /**
   * A read.
   *
   * @param arrivedNanos for its trace; 0 if it has none
   */
  private record PendingRead<T>(
      Supplier<T> read,
      Kind kind,
      CallTrace call,
      long arrivedNanos,
      CompletableFuture<T> outcome) {
    void run() {
      try {
        outcome.complete(traced(call, read));
      } catch (RuntimeException | Error failure) {
        outcome.completeExceptionally(failure);
      }
    }
  }

  /** {@link #linearizable(CallTrace, Kind, Supplier)} for the member itself. */
  <T> CompletionStage<T> linearizable(Kind kind, Supplier<T> read) {
    return linearizable(CallTrace.NONE, kind, read);
  }

  /**
   * Runs {@code read} on the threads of its kind once the state contains all entries that were
   * committed when this was called.
   *
   * @param call records the steps: {@code queue} until the round started, {@code read index} until
   *     a quorum confirmed, {@code apply wait} until the state was current, {@code read}
   * @param kind point reads may share a task
   */
  <T> CompletionStage<T> linearizable(CallTrace call, Kind kind, Supplier<T> read) {
    CompletableFuture<T> outcome = new CompletableFuture<>();
    long arrivedNanos = call.isRecorded() ? System.nanoTime() : 0;
    boolean start;
    synchronized (this) {
      waiting.add(new PendingRead<>(read, kind, call, arrivedNanos, outcome));
      start = !running;
      running = true;
    }
    if (start) {
      startRound();
    }
    return outcome;
  }

  /** Runs {@code read} on the threads of its kind immediately. */
  <T> CompletionStage<T> serializable(Kind kind, Supplier<T> read) {
    return serializable(CallTrace.NONE, kind, read);
  }

  /** {@link #serializable(Kind, Supplier)}; {@code call} records the step {@code read}. */
  <T> CompletionStage<T> serializable(CallTrace call, Kind kind, Supplier<T> read) {
    try {
      return CompletableFuture.supplyAsync(() -> traced(call, read), threads(kind));
    } catch (RefusedException refused) {
      return CompletableFuture.failedFuture(refused);
    }
  }

  /**
   * A point read that needs no other thread if its result is in memory.
   *
   * @param call records the step {@code read}
   * @param inMemory runs on this thread; the result, or null if only {@code read} can tell
   * @param read runs on the threads for point reads
   * @throws RefusedException by {@code inMemory}
   */
  <T> CompletionStage<T> serializablePoint(
      CallTrace call, Supplier<@Nullable T> inMemory, Supplier<T> read) {
    long startNanos = call.isRecorded() ? System.nanoTime() : 0;
    T known = inMemory.get();
    if (known == null) {
      return serializable(call, Kind.POINT, read);
    }
    if (call.isRecorded()) {
      call.step("read", startNanos, System.nanoTime());
    }
    return CompletableFuture.completedFuture(known);
  }

  private Executor threads(Kind kind) {
    return switch (kind) {
      case POINT -> member.reads().points();
      case RANGE -> member.reads().ranges();
      case HASH -> member.reads().hashes();
    };
  }

  private static <T> T traced(CallTrace call, Supplier<T> read) {
    if (!call.isRecorded()) {
      return read.get();
    }
    long startNanos = System.nanoTime();
    try {
      return read.get();
    } finally {
      call.step("read", startNanos, System.nanoTime());
    }
  }

  private void startRound() {
    List<PendingRead<?>> round;
    synchronized (this) {
      if (waiting.isEmpty()) {
        running = false;
        return;
      }
      round = waiting;
      waiting = new ArrayList<>();
    }
    ask(round, System.nanoTime() + timeout.toNanos());
  }

  private void ask(List<PendingRead<?>> round, long endNanos) {
    long startNanos = System.nanoTime();
    Duration left = Duration.ofNanos(Math.max(endNanos - System.nanoTime(), 1));
    CompletionStage<ReadReply> asked =
        member.replies().ask(member.raft(), RaftCommand.ReadIndex::new, left);
    asked.whenComplete(
        (reply, failure) -> {
          long repliedNanos = System.nanoTime();
          member
              .metrics()
              .raft()
              .readIndexed(repliedNanos - startNanos, reply instanceof ReadReply.Ready);
          if (reply instanceof ReadReply.Ready ready) {
            recordSteps(round, startNanos, ready.confirmedNanos(), repliedNanos);
          }
          if (reply instanceof ReadReply.Failed refused && refused.reason() == Refusal.NO_LEADER) {
            awaitLeader(round, endNanos, left);
          } else {
            startRound();
            finish(round, reply, failure);
          }
        });
  }

  private static void recordSteps(
      List<PendingRead<?>> round, long startNanos, long confirmedNanos, long endNanos) {
    for (PendingRead<?> read : round) {
      CallTrace call = read.call();
      if (call.isRecorded()) {
        call.step("queue", read.arrivedNanos(), startNanos);
        call.step("read index", startNanos, confirmedNanos);
        call.step("apply wait", confirmedNanos, endNanos);
      }
    }
  }

  /** G12: without a leader the round waits until the timeout. */
  private void awaitLeader(List<PendingRead<?>> round, long endNanos, Duration atMost) {
    LeaderWait.await(member, atMost, tick)
        .whenComplete(
            (leader, failure) -> {
              if (failure == null && System.nanoTime() < endNanos) {
                ask(round, endNanos);
              } else {
                startRound();
                finish(round, new ReadReply.Failed(Refusal.TIMED_OUT), null);
              }
            });
  }

  private void finish(
      List<PendingRead<?>> round, @Nullable ReadReply reply, @Nullable Throwable failure) {
    if (failure != null) {
      round.forEach(read -> read.outcome().completeExceptionally(failure));
    } else if (reply instanceof ReadReply.Failed refused) {
      round.forEach(
          read -> read.outcome().completeExceptionally(new RefusedException(refused.reason())));
    } else {
      run(round);
    }
  }

  /** A long read gets its own task, so that no point read waits for it. */
  private void run(List<PendingRead<?>> round) {
    List<PendingRead<?>> batch = new ArrayList<>(Math.min(round.size(), READS_PER_TASK));
    for (PendingRead<?> read : round) {
      if (read.kind() != Kind.POINT) {
        runAlone(read);
        continue;
      }
      batch.add(read);
      if (batch.size() == READS_PER_TASK) {
        submit(batch);
        batch = new ArrayList<>(READS_PER_TASK);
      }
    }
    if (!batch.isEmpty()) {
      submit(batch);
    }
  }

  private void runAlone(PendingRead<?> read) {
    try {
      threads(read.kind()).execute(read::run);
    } catch (RefusedException refused) {
      read.outcome().completeExceptionally(refused);
    }
  }

  private void submit(List<PendingRead<?>> batch) {
    threads(Kind.POINT).execute(() -> batch.forEach(PendingRead::run));
  }
}
