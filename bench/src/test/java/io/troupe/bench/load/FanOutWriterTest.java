package io.troupe.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class FanOutWriterTest {
  private final List<Integer> puts = new ArrayList<>();
  private final AtomicInteger finished = new AtomicInteger();

  private FanOutWriter writer(int watchers, int ahead, long openNanos) {
    Window window = new Window(Long.MIN_VALUE, System.nanoTime() + openNanos);
    return new FanOutWriter(watchers, ahead, window, puts::add, finished::incrementAndGet);
  }

  private FanOutWriter open(int watchers, int ahead) {
    return writer(watchers, ahead, TimeUnit.MINUTES.toNanos(10));
  }

  @Test
  void sendsOnePutAtATimeUpToMaximumAhead() {
    FanOutWriter writer = open(1, 3);
    writer.go();
    writer.go();
    assertThat(puts).containsExactly(1);
    writer.acknowledged();
    writer.acknowledged();
    writer.acknowledged();
    assertThat(puts).containsExactly(1, 2, 3);
    assertThat(writer.delivered(1)).isTrue();
    assertThat(puts).containsExactly(1, 2, 3, 4);
  }

  @Test
  void lockStepWaitsForEveryWatcherAndTheAcknowledgement() {
    FanOutWriter writer = open(2, 1);
    writer.go();
    assertThat(writer.delivered(1)).isTrue();
    writer.acknowledged();
    assertThat(puts).containsExactly(1);
    assertThat(writer.delivered(1)).isTrue();
    assertThat(puts).containsExactly(1, 2);
    // Events may arrive before the acknowledgement.
    writer.delivered(2);
    writer.delivered(2);
    assertThat(puts).containsExactly(1, 2);
    writer.acknowledged();
    assertThat(puts).containsExactly(1, 2, 3);
  }

  @Test
  void detectsRepeatedAndUnknownEvents() {
    FanOutWriter writer = open(1, 2);
    writer.go();
    assertThat(writer.delivered(2)).isFalse();
    writer.acknowledged();
    assertThat(writer.delivered(1)).isTrue();
    assertThat(writer.delivered(1)).isFalse();
  }

  @Test
  void finishesOnceWhenAllPutsAreCompleteOrNoneWasSent() {
    FanOutWriter nothing = writer(1, 2, -1);
    nothing.go();
    nothing.go();
    assertThat(puts).isEmpty();
    assertThat(finished).hasValue(1);

    FanOutWriter late = writer(1, 2, TimeUnit.MILLISECONDS.toNanos(300));
    late.go();
    late.acknowledged();
    assertThat(puts).containsExactly(1, 2);
    Window.waitUntil(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(300));
    late.acknowledged();
    assertThat(finished).hasValue(1);
    late.delivered(1);
    assertThat(finished).hasValue(1);
    late.delivered(2);
    assertThat(finished).hasValue(2);
    assertThat(puts).containsExactly(1, 2);
  }
}
