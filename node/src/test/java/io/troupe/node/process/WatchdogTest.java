package io.troupe.node.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.testing.LoggedLines;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WatchdogTest {
  private static final String HANGS = "the disk does not complete a write of the log";

  private final Path directory;

  WatchdogTest(@TempDir Path directory) {
    this.directory = directory;
  }

  @Test
  void limitIsForThisProcess() {
    assertThat(Watchdog.limit(Map.of(), 7)).isEmpty();
    assertThat(Watchdog.limit(Map.of("WATCHDOG_USEC", "1500000"), 7))
        .contains(Duration.ofMillis(1500));
    assertThat(Watchdog.limit(Map.of("WATCHDOG_USEC", "1500000", "WATCHDOG_PID", "7"), 7))
        .contains(Duration.ofMillis(1500));
    assertThat(Watchdog.limit(Map.of("WATCHDOG_USEC", "1500000", "WATCHDOG_PID", "8"), 7))
        .isEmpty();
  }

  @Test
  void wrongLimitIsLogged() {
    try (LoggedLines log = new LoggedLines(Watchdog.class)) {
      assertThat(Watchdog.limit(Map.of("WATCHDOG_USEC", "-1"), 7)).isEmpty();
      assertThat(log.texts()).singleElement().asString().contains("WATCHDOG_USEC", "value=-1");
    }
  }

  @Test
  void beatsStopWithTheProgressAndContinueWithIt() {
    AtomicLong pendingWrite = new AtomicLong();
    AtomicLong ticks = new AtomicLong();
    String name = directory.resolve("notify").toString();
    try (LoggedLines log = new LoggedLines(Watchdog.class);
        NotifySocket systemd = new NotifySocket(name);
        Watchdog watchdog =
            Watchdog.start(
                SystemdNotifier.at(name),
                Duration.ofMillis(200),
                () ->
                    new MemberProgress(pendingWrite.get(), 5, 5, ticks.incrementAndGet(), false))) {
      for (int beats = 0; beats < 3; beats++) {
        assertThat(systemd.await()).isEqualTo("WATCHDOG=1");
      }
      pendingWrite.set(1);
      Awaitility.await().until(systemd::await, ("STATUS=no progress: " + HANGS)::equals);
      Awaitility.await().during(Duration.ofMillis(300)).until(systemd::poll, String::isEmpty);
      pendingWrite.set(0);
      assertThat(systemd.await()).isEqualTo("STATUS=serving clients");
      assertThat(systemd.await()).isEqualTo("WATCHDOG=1");
      watchdog.close();
      assertThat(log.texts()).hasSize(2);
      assertThat(log.texts().get(0)).contains("reason=\"" + HANGS + "\"");
    }
  }

  @Test
  void failedCheckIsLoggedAndTheNextOneFeedsAgain() {
    AtomicLong ticks = new AtomicLong();
    AtomicBoolean fails = new AtomicBoolean();
    String name = directory.resolve("notify").toString();
    try (LoggedLines log = new LoggedLines(Watchdog.class);
        NotifySocket systemd = new NotifySocket(name);
        Watchdog watchdog =
            Watchdog.start(
                SystemdNotifier.at(name),
                Duration.ofMillis(200),
                () -> {
                  if (fails.compareAndSet(true, false)) {
                    throw new IllegalStateException("no status");
                  }
                  return new MemberProgress(0, 5, 5, ticks.incrementAndGet(), false);
                })) {
      assertThat(systemd.await()).isEqualTo("WATCHDOG=1");
      fails.set(true);
      Awaitility.await().until(log::texts, lines -> lines.size() == 1);
      assertThat(log.texts().get(0)).contains("cannot check the progress");
      drain(systemd);
      assertThat(systemd.await()).isEqualTo("WATCHDOG=1");
      watchdog.close();
    }
  }

  /** Drops what was sent so far. */
  private static void drain(NotifySocket systemd) {
    String received;
    do {
      received = systemd.poll();
    } while (!received.isEmpty());
  }
}
