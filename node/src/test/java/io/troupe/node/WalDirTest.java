package io.troupe.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.Config;
import io.troupe.node.process.StartException;
import io.troupe.persistence.datadir.DataDirException;
import io.troupe.persistence.datadir.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A member whose log is in a separate directory. */
class WalDirTest {
  private final Path data;
  private final Path log;
  private final Map<String, Object> settings;

  WalDirTest(@TempDir Path temp) {
    this.data = temp.resolve("data");
    this.log = temp.resolve("log");
    this.settings = TestConfig.alone(data);
  }

  private Config config(String walDir) {
    Map<String, Object> all = new HashMap<>(settings);
    all.put("troupe.wal-dir", walDir);
    return TestConfig.of(all);
  }

  private void run(String walDir) throws InterruptedException {
    try (RunningNode node =
        RunningNode.start(
            config(walDir),
            failure -> {
              throw new AssertionError(failure);
            })) {
      node.awaitReady();
    }
  }

  private static long segments(Path wal) throws IOException {
    try (Stream<Path> names = Files.list(wal)) {
      return names.count();
    }
  }

  @Test
  void logIsInSeparateDirectoryOnly() throws Exception {
    run(log.toString());
    assertThat(segments(log.resolve("wal"))).isPositive();
    assertThat(data.resolve("wal")).doesNotExist();
    run(log.toString());
    assertThatThrownBy(() -> run(""))
        .isInstanceOf(DataDirException.class)
        .hasMessageContaining("start with wal-dir");

    DurableFiles.deleteTree(log.resolve("wal"));
    Files.createDirectory(log.resolve("wal"));
    assertThatThrownBy(() -> run(log.toString()))
        .isInstanceOf(CompletionException.class)
        .hasRootCauseInstanceOf(DataDirException.class)
        .hasMessageContaining("there is no log in " + log.resolve("wal"));
  }

  @Test
  void defaultDirectoryIsNotSeparate() throws Exception {
    run(data.resolve("wal").toString());
    run("");
    assertThat(segments(data.resolve("wal"))).isPositive();
  }

  @Test
  void otherDirectoriesInsideDataDirectoryAreRefused() {
    for (Path wrong : new Path[] {data, data.resolve("log"), data.resolve("wal/wal")}) {
      assertThatThrownBy(() -> run(wrong.toString()))
          .isInstanceOf(StartException.class)
          .hasMessageContaining("troupe.wal-dir")
          .hasMessageContaining("outside of data-dir");
    }
    assertThat(data).doesNotExist();
  }
}
