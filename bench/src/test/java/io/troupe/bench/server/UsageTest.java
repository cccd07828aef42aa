package io.troupe.bench.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.bench.client.Endpoint;
import io.troupe.bench.server.ServerCommand.Addresses;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class UsageTest {
  @Test
  void readsTimesAfterNameWithBlanksAndParentheses() {
    String stat = "42 (a (b) c) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 5 0 100 1000 10";
    List<String> status = List.of("Name:\tx", "VmHWM:\t    2048 kB", "VmRSS:\t    1024 kB");
    assertThat(ProcessUsage.parse(stat, status)).isEqualTo(new ProcessUsage(3.0, 1 << 20, 2 << 20));
  }

  @Test
  void readsItself() {
    assertThat(ProcessUsage.of(ProcessHandle.current().pid()).rssBytes()).isPositive();
  }

  @Test
  void busyTimeExcludesIdleAndIoWait() {
    assertThat(MachineUsage.parse("cpu  100 10 50 9999 777 5 5 30 0 0\ncpu0 1 1 1 1\n"))
        .isEqualTo(2.0);
  }

  @Test
  void commandLinesOfBothKinds() {
    List<Addresses> alone = List.of(at(1));
    assertThat(ServerCommand.etcd("/opt/etcd").commandLine(Path.of("/d"), alone, 0))
        .startsWith("/opt/etcd", "--name=bench1", "--data-dir=/d")
        .contains("--initial-cluster=bench1=http://127.0.0.1:2");
    List<Addresses> three = List.of(at(1), at(3), at(5));
    assertThat(ServerCommand.troupe("java -jar node.jar").commandLine(Path.of("/d"), three, 1))
        .startsWith("java", "-jar", "node.jar", "-Dtroupe.name=bench2")
        .contains(
            "-Dtroupe.listen-client-urls=http://127.0.0.1:3",
            "-Dtroupe.listen-peer-urls=http://127.0.0.1:4",
            "-Dtroupe.initial-cluster=bench1=http://127.0.0.1:2,bench2=http://127.0.0.1:4,"
                + "bench3=http://127.0.0.1:6");
  }

  @Test
  void membersUseAutoTlsWithTls() {
    Endpoint client = new Endpoint("127.0.0.1", 1, true, "");
    List<Addresses> secure = List.of(new Addresses(client, new Endpoint("127.0.0.1", 2)));
    assertThat(ServerCommand.etcd("etcd").commandLine(Path.of("/d"), secure, 0))
        .contains("--listen-client-urls=https://127.0.0.1:1", "--auto-tls")
        .contains("--listen-peer-urls=http://127.0.0.1:2");
    assertThat(ServerCommand.troupe("node").commandLine(Path.of("/d"), secure, 0))
        .contains("-Dtroupe.client-transport-security.auto-tls=true");
  }

  private static Addresses at(int port) {
    return new Addresses(new Endpoint("127.0.0.1", port), new Endpoint("127.0.0.1", port + 1));
  }

  @Test
  void jvmFlagsWithoutPaths() {
    assertThat(
            ServerDescription.flags(
                "/usr/bin/java\0-Xmx1g\0-XX:SharedArchiveFile=/a/b/c.jsa\0-jar\0/x/node.jar\0-Da=b\0"))
        .containsExactly("-Xmx1g", "-XX:SharedArchiveFile=.../c.jsa");
  }
}
