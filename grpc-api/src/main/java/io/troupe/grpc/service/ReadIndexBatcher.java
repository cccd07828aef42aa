package io.troupe.grpc.service;

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
 * Makes reads linearizable: each waits for a read index round that began after it arrived. Reads
 * that arrive during a round share the next one (G12), so the raft actor sees one message a round,
 * however many clients read. Thread-safe.
 */
final class ReadIndexBatcher {
  /** How much a read may cost, which says on whose threads it runs. */
  enum Kind {
    /** A key, or a fact of the member. */
    POINT,
    /** Any number of keys. */
    RANGE,
    /** All content. */
    HASH
  }

  /** Point reads of one round that share a task. */
  private static final int READS_PER_TASK = 32;

  private final Member member;
  private final Duration timeout;
  private final Duration tick;
  private List<PendingRead<?>> waiting = new ArrayList<>();
  private boolean running;

  /**
   * A gate.
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
      Supplier<T> read, Kind kind, CallTrace call, long arrivedNanos, CompletableFuture<T> answer) {
    void run() {
      try {
        answer.complete(traced(call, read));
      } catch (RuntimeException | Error failure) {
        answer.completeExceptionally(failure);
      }
    }
  }

  /** {@link #linearizable(CallTrace, Kind, Supplier)} for the member itself. */
  <T> CompletionStage<T> linearizable(Kind kind, Supplier<T> read) {
    return linearizable(CallTrace.NONE, kind, read);
  }

  /**
   * Runs {@code read} on the threads of its kind once the state holds all that was committed when
   * this was called.
   *
   * @param call told the steps: {@code queue} until its round began, {@code read index} until a
   *     quorum had confirmed, {@code apply wait} until the state was there, {@code read}
   * @param kind point reads may share a task
   */
  <T> CompletionStage<T> linearizable(CallTrace call, Kind kind, Supplier<T> read) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    long arrivedNanos = call.isRecorded() ? System.nanoTime() : 0;
    boolean start;
    synchronized (this) {
      waiting.add(new PendingRead<>(read, kind, call, arrivedNanos, answer));
      start = !running;
      running = true;
    }
    if (start) {
      startRound();
    }
    return answer;
  }

  /** Runs {@code read} on the threads of its kind at once. */
  <T> CompletionStage<T> serializable(Kind kind, Supplier<T> read) {
    return serializable(CallTrace.NONE, kind, read);
  }

  /** {@link #serializable(Kind, Supplier)}; {@code call} is told the step {@code read}. */
  <T> CompletionStage<T> serializable(CallTrace call, Kind kind, Supplier<T> read) {
    try {
      return CompletableFuture.supplyAsync(() -> traced(call, read), threads(kind));
    } catch (RefusedException refused) {
      return CompletableFuture.failedFuture(refused);
    }
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
    CompletionStage<ReadReply> reply =
        Ask.ask(member.raft(), RaftCommand.ReadIndex::new, left, member.scheduler());
    reply.whenComplete(
        (answer, failure) -> {
          long answeredNanos = System.nanoTime();
          member
              .metrics()
              .raft()
              .readIndexed(answeredNanos - startNanos, answer instanceof ReadReply.Ready);
          if (answer instanceof ReadReply.Ready ready) {
            tellSteps(round, startNanos, ready.confirmedNanos(), answeredNanos);
          }
          if (answer instanceof ReadReply.Failed refused && refused.reason() == Refusal.NO_LEADER) {
            awaitLeader(round, endNanos, left);
          } else {
            startRound();
            finish(round, answer, failure);
          }
        });
  }

  private static void tellSteps(
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
      round.forEach(read -> read.answer().completeExceptionally(failure));
    } else if (reply instanceof ReadReply.Failed refused) {
      round.forEach(
          read -> read.answer().completeExceptionally(new RefusedException(refused.reason())));
    } else {
      run(round);
    }
  }

  /** A long read gets a task of its own, so that no point read waits behind it. */
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
      read.answer().completeExceptionally(refused);
    }
  }

  private void submit(List<PendingRead<?>> batch) {
    threads(Kind.POINT).execute(() -> batch.forEach(PendingRead::run));
  }
}
