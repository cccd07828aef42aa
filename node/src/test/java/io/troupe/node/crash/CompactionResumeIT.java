package io.troupe.node.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.store.RocksStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** C4: what a compaction had not removed when the process ended is removed after the next start. */
class CompactionResumeIT {
  private static final int VERSIONS = 300;

  private final Path temp;
  private final Path data;
  private final Path javaHome;

  CompactionResumeIT(@TempDir Path temp) throws IOException {
    this.temp = temp;
    this.data = temp.resolve("data");
    this.javaHome = Jdks.found().get(0);
  }

  private MemberProcess start(String name, int batch, String pause) {
    return MemberProcess.start(
        javaHome,
        data,
        temp.resolve(name + ".log"),
        Map.of(
            "compaction-batch-limit", Integer.toString(batch), "compaction-sleep-interval", pause));
  }

  /** Versions on disk; the member is stopped. */
  private int versions() {
    int versions = 0;
    try (RocksStore store =
            RocksStore.openReadOnly(
                data.resolve("state"), new RocksSettings(8 << 20, 4 << 20, 1, 64, 0));
        Cursor all = store.cursor(Space.KEY, Bytes.EMPTY, null, false)) {
      while (all.next()) {
        versions++;
      }
    }
    return versions;
  }

  @Test
  void C4_anInterruptedCompactionGoesOnAfterARestart() throws Exception {
    long compacted = 0;
    try (MemberProcess member = start("stopped", 10, "1minute").awaitReady();
        EtcdClient client = member.client()) {
      for (int i = 0; i < VERSIONS; i++) {
        compacted = client.put("key", "v" + i, 0).getHeader().getRevision();
      }
      client.compact(compacted, false);
      member.terminate();
    }
    assertThat(versions()).as("most is not removed yet").isGreaterThan(VERSIONS - 50);

    try (MemberProcess member = start("killed", 10, "1minute").awaitReady();
        EtcdClient client = member.client()) {
      assertThat(client.range("key", "kez", compacted).getKvsCount()).isEqualTo(1);
      member.kill();
    }

    try (MemberProcess member = start("finishing", 10, "0ms").awaitReady();
        EtcdClient client = member.client()) {
      String line = "finished scheduled compaction compact-revision=" + compacted;
      Awaitility.await("compaction goes on by itself\n" + member.output())
          .atMost(Duration.ofSeconds(30))
          .pollInterval(Duration.ofMillis(50))
          .until(() -> member.output().contains(line));
      assertThat(client.range("key", "kez", 0).getKvs(0).getValue().toStringUtf8())
          .isEqualTo("v" + (VERSIONS - 1));
      member.terminate();
    }
    assertThat(versions()).isEqualTo(1);
  }
}
