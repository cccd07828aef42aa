package io.troupe.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DefragmentationTest {
  private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
  private final AtomicInteger runs = new AtomicInteger();
  private final Defragmentation defragmentation =
      new Defragmentation(runs::incrementAndGet, tasks::add);

  private CompletableFuture<Void> ask() {
    return defragmentation.request().toCompletableFuture();
  }

  @Test
  void defragmentReturnsWhenWorkIsDone_MT5() {
    CompletableFuture<Void> asked = ask();
    assertThat(asked).isNotDone();
    tasks.remove().run();
    assertThat(asked).isCompleted();
    assertThat(runs).hasValue(1);
  }

  @Test
  void concurrentRequestsShareNextRun() {
    CompletableFuture<Void> first = ask();
    CompletableFuture<Void> second = ask();
    CompletableFuture<Void> third = ask();
    assertThat(tasks).as("one at a time").hasSize(1);
    tasks.remove().run();
    assertThat(first).isCompleted();
    assertThat(second).as("the first run may have missed its data").isNotDone();
    tasks.remove().run();
    assertThat(second).isCompleted();
    assertThat(third).isCompleted();
    assertThat(tasks).isEmpty();
    assertThat(runs).hasValue(2);
    CompletableFuture<Void> later = ask();
    tasks.remove().run();
    assertThat(later).isCompleted();
  }

  @Test
  void failureIsReportedAndNextRequestRuns() {
    AtomicInteger attempts = new AtomicInteger();
    Defragmentation failing =
        new Defragmentation(
            () -> {
              if (attempts.incrementAndGet() == 1) {
                throw new IllegalStateException("no space");
              }
            },
            tasks::add);
    CompletableFuture<Void> first = failing.request().toCompletableFuture();
    CompletableFuture<Void> second = failing.request().toCompletableFuture();
    tasks.remove().run();
    assertThat(first).isCompletedExceptionally();
    tasks.remove().run();
    assertThat(second).isCompleted();
  }
}
