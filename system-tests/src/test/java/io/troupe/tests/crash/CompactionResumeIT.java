package io.troupe.tests.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.store.RocksStore;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks;
import io.troupe.tests.process.TestJdks.Jdk;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** C4: a compaction that a kill interrupts removes the remaining versions after the restart. */
class CompactionResumeIT {
  private static final int VERSIONS = 300;

  private final Path temp;
  private final Path data;
  private final Jdk jdk;

  CompactionResumeIT(@TempDir Path temp) {
    this.temp = temp;
    this.data = temp.resolve("data");
    this.jdk = TestJdks.all().get(0);
  }

  private NodeProcess start(String name, int batch, String pause) {
    return NodeProcess.member(jdk, temp, CrashCampaign.QUICK_START)
        .named(name)
        .setting("data-dir", data.toString())
        .setting("compaction-batch-limit", Integer.toString(batch))
        .setting("compaction-sleep-interval", pause)
        .start();
  }

  /** Versions on disk, each with a row of REV; the member must be stopped. */
  private int versions() {
    int versions = 0;
    try (RocksStore store =
            RocksStore.openReadOnly(
                data.resolve("state"), new RocksSettings(8 << 20, 4 << 20, 1, 64, 0));
        Cursor all = store.cursor(Space.REV, Bytes.EMPTY, null, false)) {
      while (all.next()) {
        versions++;
      }
    }
    return versions;
  }

  @Test
  void interruptedCompactionResumesAfterRestart_C4() throws Exception {
    long compacted = 0;
    try (NodeProcess member = start("stopped", 10, "1minute").awaitReady();
        EtcdClient client = new EtcdClient(member.port())) {
      for (int i = 0; i < VERSIONS; i++) {
        compacted = client.put("key", "v" + i, 0).getHeader().getRevision();
      }
      client.compact(compacted, false);
      member.stop();
    }
    assertThat(versions()).as("most is not removed yet").isGreaterThan(VERSIONS - 50);

    try (NodeProcess member = start("killed", 10, "1minute").awaitReady();
        EtcdClient client = new EtcdClient(member.port())) {
      assertThat(client.range("key", "kez", compacted).getKvsCount()).isEqualTo(1);
      member.kill();
    }

    try (NodeProcess member = start("finishing", 10, "0ms").awaitReady();
        EtcdClient client = new EtcdClient(member.port())) {
      String line = "finished scheduled compaction compact-revision=" + compacted;
      member.awaitLine(line);
      assertThat(client.range("key", "kez", 0).getKvs(0).getValue().toStringUtf8())
          .isEqualTo("v" + (VERSIONS - 1));
      member.stop();
    }
    assertThat(versions()).isEqualTo(1);
  }
}
