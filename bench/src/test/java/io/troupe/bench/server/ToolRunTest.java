package io.troupe.bench.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ToolRunTest {
  private final Path directory;

  ToolRunTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private ToolRun shell(String script) {
    return ToolRun.of(List.of("sh", "-c", script), directory.resolve("log"));
  }

  @Test
  void measuresTimeAndMemoryUntilExit() {
    ToolRun run = shell("sleep 0.3");
    assertThat(run.seconds()).isGreaterThanOrEqualTo(0.3);
    assertThat(run.peakRssBytes()).isPositive();
    assertThat(run.cpuSeconds()).isNotNegative();
  }

  @Test
  void failureNamesCommandExitCodeAndOutput() {
    assertThatThrownBy(() -> shell("echo no such snapshot; exit 3"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("exited with code 3")
        .hasMessageContaining("no such snapshot");
  }

  @Test
  void holesOfSparseFilesTakeNoSpace() throws IOException {
    Path data = Files.createDirectory(directory.resolve("data"));
    Files.write(data.resolve("full"), new byte[1 << 20]);
    try (var file = new java.io.RandomAccessFile(data.resolve("sparse").toFile(), "rw")) {
      file.setLength(1 << 30);
    }
    assertThat(DataDirectory.bytes(data)).isBetween(1L << 20, 2L << 20);
    DataDirectory.delete(data);
    assertThat(data).doesNotExist();
    assertThatThrownBy(() -> DataDirectory.bytes(data)).isInstanceOf(IllegalStateException.class);
  }
}
