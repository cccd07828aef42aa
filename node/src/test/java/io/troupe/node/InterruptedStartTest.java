package io.troupe.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.Config;
import io.troupe.node.process.StartException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.pekko.actor.AbstractExtensionId;
import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.actor.Extension;
import org.apache.pekko.actor.ExtensionIdProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An application may interrupt the start of a member at any moment. */
final class InterruptedStartTest {
  private static volatile @Nullable Thread starting;

  private final Path directory;

  InterruptedStartTest(@TempDir Path directory) {
    this.directory = directory;
  }

  @Test
  void interruptedStartThrowsAndLeavesNothingBehind() throws Exception {
    Map<String, Object> settings = TestConfig.alone(directory);
    Config config = TestConfig.of(settings);
    settings.put("pekko.library-extensions", List.of(Interrupting.class.getName()));
    starting = Thread.currentThread();
    try {
      assertThatThrownBy(() -> RunningNode.start(TestConfig.of(settings), failure -> {}))
          .isInstanceOf(StartException.class)
          .hasMessage("interrupted while starting");
      assertThat(Thread.interrupted()).isTrue();
    } finally {
      starting = null;
    }
    // The same ports and the same directory are free.
    try (RunningNode node = RunningNode.start(config, failure -> {})) {
      node.awaitReady();
    }
  }

  /**
   * Is created before the peer port is opened, and interrupts the thread that starts the member.
   */
  public static final class Interrupting extends AbstractExtensionId<Extension>
      implements ExtensionIdProvider {
    @Override
    public Extension createExtension(ExtendedActorSystem system) {
      Thread thread = starting;
      if (thread != null) {
        thread.interrupt();
      }
      return new Extension() {};
    }

    @Override
    public Interrupting lookup() {
      return this;
    }
  }
}
