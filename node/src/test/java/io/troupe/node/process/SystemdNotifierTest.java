package io.troupe.node.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.testing.LoggedLines;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** F10: notifications to systemd; a missing supervisor does no harm. */
class SystemdNotifierTest {
  private static void isTold(String name) {
    try (NotifySocket socket = new NotifySocket(name)) {
      SystemdNotifier supervisor = SystemdNotifier.at(name);
      supervisor.ready();
      supervisor.status("größer");
      supervisor.alive();
      supervisor.stopping("signal");
      assertThat(Stream.generate(socket::poll).takeWhile(text -> !text.isEmpty()))
          .containsExactly(
              "READY=1\nSTATUS=serving clients",
              "STATUS=größer",
              "WATCHDOG=1",
              "STOPPING=1\nSTATUS=stopping, cause: signal");
    }
  }

  @Test
  void notifiesSocketWithPath_F10(@TempDir Path directory) {
    isTold(directory.resolve("notify").toString());
  }

  @Test
  void notifiesAbstractSocket_F10() {
    isTold("@troupe-supervisor-test-" + ProcessHandle.current().pid());
  }

  private static List<String> warnings(String name) {
    try (LoggedLines log = new LoggedLines(SystemdNotifier.class)) {
      SystemdNotifier.at(name).ready();
      return log.texts();
    }
  }

  @Test
  void unreachableSocketIsLoggedAsWarning_F10(@TempDir Path directory) {
    String missing = directory.resolve("missing").toString();
    assertThat(warnings(missing))
        .singleElement()
        .asString()
        .contains("state=READY=1 STATUS=serving clients NOTIFY_SOCKET=" + missing, "No such file");
    assertThat(warnings("vsock:2:1234"))
        .singleElement()
        .asString()
        .contains("expected an absolute");
    assertThat(warnings("/" + "x".repeat(108))).singleElement().asString().contains("108 bytes");
    assertThat(warnings("")).isEmpty();
  }
}
