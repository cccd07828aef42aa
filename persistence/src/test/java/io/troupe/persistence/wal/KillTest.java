package io.troupe.persistence.wal;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Entry;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.store.RocksStore;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kills a writing process repeatedly, on one directory: everything that it reported durable must be
 * there, and log and state must be consistent (durability rules 1 and 3).
 */
class KillTest {
  private static final int ROUNDS = 4;

  private final Path root;
  private final Path scratch;

  KillTest(@TempDir Path temp) {
    this.root = temp.resolve("data");
    this.scratch = temp.resolve("scratch");
  }

  @Test
  void killLosesNothingReportedDurable() throws Exception {
    Random random = new Random(7);
    Files.createDirectory(scratch);
    for (int round = 0; round < ROUNDS; round++) {
      long acknowledged = writeUntilKilled(30 + random.nextInt(300));
      check(acknowledged, round);
    }
    // A crash loop must not fill the temporary directory with unpacked libraries.
    try (Stream<Path> left = Files.list(scratch)) {
      assertThat(left.filter(p -> p.toString().contains("rocksdb"))).isEmpty();
    }
  }

  private long writeUntilKilled(int batches) throws Exception {
    Process child =
        new ProcessBuilder(command()).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    long durable = 0;
    try (BufferedReader out =
        new BufferedReader(new InputStreamReader(child.getInputStream(), StandardCharsets.UTF_8))) {
      int seen = 0;
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        if (line.startsWith("durable ")) {
          durable = Long.parseLong(line.substring(8));
          if (++seen == batches) {
            // Uses the handle: the process's own method would also drop the unread lines.
            assertThat(child.toHandle().destroyForcibly()).isTrue();
          }
        }
      }
      assertThat(seen).as("batches before the child exited").isGreaterThanOrEqualTo(batches);
    } finally {
      child.destroyForcibly().waitFor();
    }
    return durable;
  }

  private void check(long acknowledged, int round) {
    try (DataDir dir = DataDir.open(root);
        RocksStore store = RocksStore.openReadOnly(dir.state(), CrashWriter.STORE)) {
      long applied = CrashWriter.applied(store);
      WalReplay replay = WalReplay.read(dir.wal(), 0);
      assertThat(replay.lastIndex()).as("round %d", round).isGreaterThanOrEqualTo(acknowledged);
      assertThat(applied).isBetween(replay.compactedIndex(), replay.lastIndex());
      for (Entry entry : replay.entries()) {
        assertThat(entry).isEqualTo(CrashWriter.entry(entry.index()));
      }
      assertThat(replay.entries()).hasSize((int) (replay.lastIndex() - replay.compactedIndex()));
      // A batch is in the state with its applied index or not at all.
      for (long index = Math.max(1, applied - 200); index <= applied + 40; index++) {
        assertThat(store.get(Space.REV, CrashWriter.number(index)) != null)
            .as("round %d applied %d index %d", round, applied, index)
            .isEqualTo(index <= applied);
      }
    }
  }

  private List<String> command() {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String open : List.of("java.lang.reflect", "sun.nio.ch")) {
      command.add("--add-opens=java.base/" + open + "=ALL-UNNAMED");
    }
    command.add("--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED");
    command.add("-Djava.io.tmpdir=" + scratch);
    command.add("-Xmx256m");
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(CrashWriter.class.getName());
    command.add(root.toString());
    return command;
  }
}
