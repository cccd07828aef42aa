package io.troupe.node;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.testing.FreePort;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How a member is handed to its process. */
class RunningNodeTest {
  /** Many times what a member of one needs to publish itself. */
  private static final long LOOK_MS = 1000;

  @TempDir Path directory = Path.of("");

  private Config config() {
    String peer = "[\"http://127.0.0.1:" + FreePort.next() + "\"]";
    return ConfigFactory.parseString(
            "troupe.data-dir = \""
                + directory.resolve("data")
                + "\"\ntroupe.listen-client-urls = [\"http://127.0.0.1:0\"]"
                + "\ntroupe.listen-peer-urls = "
                + peer
                + "\ntroupe.initial-advertise-peer-urls = "
                + peer)
        .withFallback(ConfigFactory.parseResources("troupe-defaults.conf"))
        .withFallback(ConfigFactory.defaultReferenceUnresolved())
        .resolve();
  }

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

  /** Else who waits for its readiness and ends it finds a process that cannot end cleanly. */
  @Test
  void itIsHandedOverBeforeAnybodyCanSeeThatItIsReady() {
    AtomicReference<Boolean> ready = new AtomicReference<>();
    try (RunningNode node =
        RunningNode.start(
            config(),
            failure -> {
              throw new AssertionError(failure);
            },
            made -> ready.set(isReadySoon(made)))) {
      assertThat(ready.get()).isFalse();
      await(node);
    }
  }
}
