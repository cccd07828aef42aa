package io.troupe.tests.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a failed test prints of its processes. */
class FailedTestLogsTest {
  private final Path directory;

  FailedTestLogsTest(@TempDir Path directory) {
    this.directory = directory;
  }

  @Test
  void reportShowsEndOfLogAndThatProcessEndedBeforeTheTestClosedIt() {
    String script = "seq 1 100 >&2; echo the last line >&2; exit 3";
    try (NodeProcess process = NodeProcess.program(directory, "sh", "-c", script).start()) {
      assertThat(process.awaitExit()).isEqualTo(3);
    }
    String report = FailedTestLogs.report("someTest", new IllegalStateException("the reason"));
    assertThat(report)
        .contains("someTest failed: java.lang.IllegalStateException: the reason")
        .contains("exit=3 before the test closed it\n... 21 lines before\n22\n23\n")
        .endsWith("\n100\nthe last line");
  }

  @Test
  void reportShowsProcessThatTheTestClosed() {
    try (NodeProcess process = NodeProcess.program(directory, "sleep", "600").start()) {
      assertThat(process.isAlive()).isTrue();
    }
    assertThat(FailedTestLogs.report("someTest", new IllegalStateException()))
        .contains("exit=137\n");
  }
}
