package io.troupe.bench.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.bench.client.Endpoint;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class UsageTest {
  @Test
  void readsTimesBehindANameWithBlanksAndParentheses() {
    String stat = "42 (a (b) c) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 5 0 100 1000 10";
    List<String> status = List.of("Name:\tx", "VmHWM:\t    2048 kB", "VmRSS:\t    1024 kB");
    assertThat(ProcessUsage.parse(stat, status)).isEqualTo(new ProcessUsage(3.0, 1 << 20, 2 << 20));
  }

  @Test
  void readsItself() {
    assertThat(ProcessUsage.of(ProcessHandle.current().pid()).rssBytes()).isPositive();
  }

  @Test
  void machineIsBusyInAllButIdleAndWaitingTime() {
    assertThat(MachineUsage.parse("cpu  100 10 50 9999 777 5 5 30 0 0\ncpu0 1 1 1 1\n"))
        .isEqualTo(2.0);
  }

  @Test
  void commandLinesOfBothKinds() {
    Endpoint client = new Endpoint("127.0.0.1", 1);
    Endpoint peer = new Endpoint("127.0.0.1", 2);
    assertThat(ServerCommand.etcd("/opt/etcd").commandLine(Path.of("/d"), client, peer))
        .startsWith("/opt/etcd", "--name=bench", "--data-dir=/d")
        .contains("--initial-cluster=bench=http://127.0.0.1:2");
    assertThat(ServerCommand.troupe("java -jar node.jar").commandLine(Path.of("/d"), client, peer))
        .startsWith("java", "-jar", "node.jar", "-Dtroupe.name=bench")
        .contains("-Dtroupe.listen-client-urls=http://127.0.0.1:1");
  }

  @Test
  void jvmFlagsWithoutPaths() {
    assertThat(
            ServerDescription.flags(
                "/usr/bin/java\0-Xmx1g\0-XX:SharedArchiveFile=/a/b/c.jsa\0-jar\0/x/node.jar\0-Da=b\0"))
        .containsExactly("-Xmx1g", "-XX:SharedArchiveFile=.../c.jsa");
  }
}
