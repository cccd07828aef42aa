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
 * that arrive during a round share the next one (G12), so the raft room sees one message a round,
 * however many clients read. Thread-safe.
 */
final class ReadGate {
  /** Point reads of one round that share a task on the read dispatcher. */
  private static final int READS_PER_TASK = 32;

  private final Member member;
  private final Duration timeout;
  private final Duration tick;
  private List<Waiting<?>> waiting = new ArrayList<>();
  private boolean running;

  /**
   * A gate.
   *
   * @param timeout of a round
   * @param tick length of a Raft tick
   */
  ReadGate(Member member, Duration timeout, Duration tick) {
    this.member = member;
    this.timeout = timeout;
    this.tick = tick;
  }

  private record Waiting<T>(Supplier<T> read, boolean cheap, CompletableFuture<T> answer) {
    void run() {
      try {
        answer.complete(read.get());
      } catch (RuntimeException | Error failure) {
        answer.completeExceptionally(failure);
      }
    }
  }

  /**
   * Runs {@code read} on the read dispatcher once the state holds all that was committed when this
   * was called.
   *
   * @param cheap a point read: may share a task with others
   */
  <T> CompletionStage<T> linearizable(boolean cheap, Supplier<T> read) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    boolean start;
    synchronized (this) {
      waiting.add(new Waiting<>(read, cheap, answer));
      start = !running;
      running = true;
    }
    if (start) {
      startRound();
    }
    return answer;
  }

  /** Runs {@code read} on the read dispatcher at once. */
  <T> CompletionStage<T> serializable(Supplier<T> read) {
    return CompletableFuture.supplyAsync(read, member.reads());
  }

  private void startRound() {
    List<Waiting<?>> round;
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

  private void ask(List<Waiting<?>> round, long endNanos) {
    long startNanos = System.nanoTime();
    Duration left = Duration.ofNanos(Math.max(endNanos - System.nanoTime(), 1));
    CompletionStage<ReadReply> reply =
        Ask.ask(member.raft(), RaftCommand.ReadIndex::new, left, member.scheduler());
    reply.whenComplete(
        (answer, failure) -> {
          member
              .metrics()
              .raft()
              .readIndexed(System.nanoTime() - startNanos, answer instanceof ReadReply.Ready);
          if (answer instanceof ReadReply.Failed refused && refused.reason() == Refusal.NO_LEADER) {
            awaitLeader(round, endNanos, left);
          } else {
            startRound();
            finish(round, answer, failure);
          }
        });
  }

  /** G12: without a leader the round waits until the timeout. */
  private void awaitLeader(List<Waiting<?>> round, long endNanos, Duration atMost) {
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
      List<Waiting<?>> round, @Nullable ReadReply reply, @Nullable Throwable failure) {
    if (failure != null) {
      round.forEach(read -> read.answer().completeExceptionally(failure));
    } else if (reply instanceof ReadReply.Failed refused) {
      round.forEach(
          read -> read.answer().completeExceptionally(new RefusedException(refused.reason())));
    } else {
      run(round, member.reads());
    }
  }

  /** A long read gets a task of its own, so that no point read waits behind it. */
  private static void run(List<Waiting<?>> round, Executor reads) {
    List<Waiting<?>> batch = new ArrayList<>(Math.min(round.size(), READS_PER_TASK));
    for (Waiting<?> read : round) {
      if (!read.cheap()) {
        reads.execute(read::run);
        continue;
      }
      batch.add(read);
      if (batch.size() == READS_PER_TASK) {
        submit(batch, reads);
        batch = new ArrayList<>(READS_PER_TASK);
      }
    }
    if (!batch.isEmpty()) {
      submit(batch, reads);
    }
  }

  private static void submit(List<Waiting<?>> batch, Executor reads) {
    reads.execute(() -> batch.forEach(Waiting::run));
  }
}
