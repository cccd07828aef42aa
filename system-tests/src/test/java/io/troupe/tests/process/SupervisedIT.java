package io.troupe.tests.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.node.process.NotifySocket;
import io.troupe.testing.NeedsRoot;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** F10: a member under systemd, and as the first process of a container (needs root). */
@NeedsRoot
@HeapIndependent
class SupervisedIT {
  @TempDir Path directory = Path.of("");

  @Test
  void systemdIsNotifiedAndFirstProcessExitsWithZero_F10() {
    String name = directory.resolve("notify").toString();
    NodeProcess.Builder member =
        NodeProcess.member(TestJdks.running(), directory)
            .under("unshare", "--pid", "--fork", "--mount-proc")
            .environment("NOTIFY_SOCKET", name);
    try (NotifySocket systemd = new NotifySocket(name);
        NodeProcess node = member.start()) {
      assertThat(systemd.await()).isEqualTo("STATUS=opening the data directory");
      assertThat(systemd.await()).isEqualTo("STATUS=waiting until a quorum of the cluster runs");
      assertThat(systemd.await()).isEqualTo("READY=1\nSTATUS=serving clients");
      node.awaitReady();
      List<ProcessHandle> first =
          new ArrayList<>(ProcessHandle.of(node.pid()).orElseThrow().children().toList());
      assertThat(first).hasSize(1);
      // SIGTERM
      first.get(0).destroy();
      assertThat(node.awaitExit()).isZero();
      assertThat(systemd.await()).isEqualTo("STOPPING=1\nSTATUS=stopping, cause: signal");
      assertThat(systemd.poll()).isEmpty();
      assertThat(node.err()).contains(" stopped").doesNotContain(" WARN ", "ERROR");
    }
  }
}
