package io.troupe.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LogRateLimitTest {
  @Test
  void allowsOneLinePerIntervalAndCountsSuppressedLines() {
    LogRateLimit limit = new LogRateLimit(100);
    assertThat(limit.admit(-5)).isZero();
    assertThat(limit.admit(0)).isEqualTo(LogRateLimit.SUPPRESSED);
    assertThat(limit.admit(94)).isEqualTo(LogRateLimit.SUPPRESSED);
    assertThat(limit.admit(95)).isEqualTo(2);
    assertThat(limit.admit(195)).isZero();
  }

  @Test
  void allowsBurstThenOneLinePerInterval() {
    LogRateLimit limit = new LogRateLimit(100, 3);
    for (int i = 0; i < 3; i++) {
      assertThat(limit.admit(7)).isZero();
    }
    assertThat(limit.admit(7)).isEqualTo(LogRateLimit.SUPPRESSED);
    assertThat(limit.admit(106)).isEqualTo(LogRateLimit.SUPPRESSED);
    assertThat(limit.admit(107)).isEqualTo(2);
    assertThat(limit.admit(107)).isEqualTo(LogRateLimit.SUPPRESSED);
    // After an idle time the same number as at first.
    assertThat(limit.admit(10_000)).isEqualTo(1);
    assertThat(limit.admit(10_000)).isZero();
    assertThat(limit.admit(10_000)).isZero();
    assertThat(limit.admit(10_000)).isEqualTo(LogRateLimit.SUPPRESSED);
  }

  /** Threads that arrive at the same instant do not take each other's lines. */
  @Test
  void burstMayComeFromSeveralThreads() throws Exception {
    int threads = 4;
    int each = 1_000_000;
    LogRateLimit limit = new LogRateLimit(100, (long) threads * each);
    CyclicBarrier together = new CyclicBarrier(threads);
    List<CompletableFuture<Long>> counts = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      CompletableFuture<Long> count = new CompletableFuture<>();
      counts.add(count);
      new Thread(
              () -> {
                try {
                  together.await();
                  count.complete(
                      IntStream.range(0, each)
                          .filter(n -> limit.admit(7) != LogRateLimit.SUPPRESSED)
                          .count());
                } catch (InterruptedException | BrokenBarrierException e) {
                  count.completeExceptionally(e);
                }
              })
          .start();
    }
    for (CompletableFuture<Long> count : counts) {
      assertThat(count.get(1, TimeUnit.MINUTES)).isEqualTo(each);
    }
    assertThat(limit.admit(7)).isEqualTo(LogRateLimit.SUPPRESSED);
  }
}
