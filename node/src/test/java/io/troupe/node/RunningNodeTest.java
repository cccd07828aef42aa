package io.troupe.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The start returns a member before clients can observe its readiness. */
class RunningNodeTest {
  /** Many times the duration in which a single member publishes itself. */
  private static final long LOOK_MS = 1000;

  @TempDir Path directory = Path.of("");

  private static void await(RunningNode node) {
    try {
      node.awaitReady();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static boolean isReadySoon(RunningNode node) {
    try {
      CompletableFuture.runAsync(() -> await(node)).get(LOOK_MS, TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException notYet) {
      return false;
    } catch (InterruptedException | ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Otherwise a client that stops the process at readiness finds a process that cannot stop
   * cleanly.
   */
  @Test
  void nodeIsReturnedBeforeReadinessIsVisible() {
    AtomicReference<Boolean> ready = new AtomicReference<>();
    try (RunningNode node =
        RunningNode.start(
            TestConfig.of(TestConfig.alone(directory.resolve("data"))),
            failure -> {
              throw new AssertionError(failure);
            },
            made -> ready.set(isReadySoon(made)))) {
      assertThat(ready.get()).isFalse();
      await(node);
    }
  }
}
