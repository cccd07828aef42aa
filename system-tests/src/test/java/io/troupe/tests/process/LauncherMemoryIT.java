package io.troupe.tests.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.testing.FreePort;
import io.troupe.testing.NeedsRoot;
import io.troupe.tests.process.TestJdks.Jdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Heap, out-of-memory handling and locale of bin/node and bin/etcd. */
@Alone
@Tag("full")
@OwnHeap
class LauncherMemoryIT {
  private static final String JDKS = "io.troupe.tests.process.TestJdks#all";
  private static final int OUT_OF_MEMORY = 138;

  /** Less than any member needs: the JVM runs out of it during its start. */
  private static final String TINY = "-Xms8m -Xmx8m";

  @TempDir Path directory = Path.of("");

  private NodeProcess.Builder script(String name, Jdk jdk) {
    return NodeProcess.program(directory, NodeProcess.script(name).toString())
        .environment("JAVA_HOME", jdk.home().toString())
        .environment("TROUPE_JAR", NodeProcess.nodeJar().toString())
        .environment("TROUPE_CACHE", directory.toString())
        .environment("TROUPE_ARCHIVE", "off");
  }

  private NodeProcess.Builder node(Jdk jdk) {
    return script("node", jdk)
        .args(
            "-Dtroupe.data-dir=" + directory.resolve("data"),
            "-Dtroupe.listen-client-urls=http://127.0.0.1:" + FreePort.next())
        .args(NodeProcess.peerPort().toArray(String[]::new));
  }

  private NodeProcess.Builder etcd(Jdk jdk) {
    String peer = "http://127.0.0.1:" + FreePort.next();
    return script("etcd", jdk)
        .args(
            "--data-dir=" + directory.resolve("data"),
            "--listen-client-urls=http://127.0.0.1:" + FreePort.next(),
            "--advertise-client-urls=http://127.0.0.1:1",
            "--listen-peer-urls=" + peer,
            "--initial-advertise-peer-urls=" + peer,
            "--initial-cluster=default=" + peer);
  }

  // ---- how large the heap is

  /** Machine and cgroups as files: kilobytes of the machine, version, limits from the root down. */
  @ParameterizedTest
  @CsvSource({
    "25165824, 2, max, max, 512",
    "25165824, 2, max, 1073741824, 256",
    "25165824, 2, 1073741824, max, 256",
    "25165824, 2, max, 268435456, 128",
    "25165824, 1, 9223372036854771712, 1610612736, 384",
    "25165824, 1, 9223372036854771712, 9223372036854771712, 512",
    "1048576, 2, max, max, 256",
    "262144, 0, max, max, 128",
  })
  void defaultHeapFollowsMachineAndCgroup(
      long machine, int version, String outer, String inner, int heapMebibytes) throws IOException {
    Path root = directory.resolve("root");
    Path groups = root.resolve("sys/fs/cgroup" + (version == 1 ? "/memory" : ""));
    Files.createDirectories(groups.resolve("outer/inner"));
    Files.createDirectories(root.resolve("proc/self"));
    Files.writeString(
        root.resolve("proc/meminfo"), "MemTotal:       " + machine + " kB\nMemFree: 1 kB\n");
    String limit = version == 1 ? "memory.limit_in_bytes" : "memory.max";
    if (version > 0) {
      Files.writeString(
          root.resolve("proc/self/cgroup"),
          version == 1 ? "3:cpu:/x\n5:memory:/outer/inner\n" : "0::/outer/inner\n");
      Files.writeString(groups.resolve("outer").resolve(limit), outer + "\n");
      Files.writeString(groups.resolve("outer/inner").resolve(limit), inner + "\n");
    }
    try (NodeProcess shown =
        node(TestJdks.running())
            .environment("JAVA_HOME", printingJdk("17.0.1").toString())
            .environment("TROUPE_ROOT", root.toString())
            .start()) {
      assertThat(shown.awaitExit()).isZero();
      assertThat(shown.out().lines())
          .contains(
              "-Xmx" + heapMebibytes * 1024 + "k",
              "-Xms" + 128 * 1024 + "k",
              "-XX:NewSize=" + 128 * 1024 / 16 + "k",
              "-XX:GCTimeRatio=19");
    }
  }

  /** A JDK whose java prints its arguments: rules for them need no member. */
  private Path printingJdk(String version) throws IOException {
    Path home = directory.resolve("jdk");
    Path java = Files.createDirectories(home.resolve("bin")).resolve("java");
    Files.writeString(java, "#!/bin/sh\nfor word; do echo \"$word\"; done\n");
    assertThat(java.toFile().setExecutable(true)).isTrue();
    Files.writeString(home.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
    return home;
  }

  /** A JVM that does not know an option refuses to start. */
  @ParameterizedTest
  @CsvSource({
    "17, false",
    "17.0.14, false",
    "17.0.15, true",
    "21.0.6, false",
    "21.0.7.1, true",
    "22-ea, true",
    "25.0.3, true"
  })
  void freedMemoryIsReturnedWhereJvmKnowsTheOption(String version, boolean known)
      throws IOException {
    try (NodeProcess shown =
        node(TestJdks.running())
            .environment("JAVA_HOME", printingJdk(version).toString())
            .start()) {
      assertThat(shown.awaitExit()).isZero();
      assertThat(shown.out().lines().filter("-XX:TrimNativeHeapInterval=10000"::equals).count())
          .isEqualTo(known ? 1 : 0);
    }
  }

  @ParameterizedTest
  @MethodSource(JDKS)
  void memberLogsItsHeapAndUsesSmallInitialHeap(Jdk jdk) {
    try (NodeProcess node = node(jdk).environment("TROUPE_HEAP", "96m").start().awaitReady()) {
      assertThat(node.awaitLine("starting Troupe")).contains("heap-origin=\"TROUPE_HEAP\"");
      assertThat(node.err()).doesNotContain("ERROR");
    }
  }

  @Test
  void memberLogsSourceOfDefaultHeap() {
    try (NodeProcess node = node(TestJdks.running()).start().awaitReady()) {
      assertThat(node.awaitLine("starting Troupe"))
          .containsPattern("heap-origin=\"(machine|cgroup) memory");
    }
  }

  @ParameterizedTest
  @CsvSource({"31m", "many", "-5m", "9000g", "1.5g"})
  void wrongHeapIsRefusedWithValidForms(String heap) {
    try (NodeProcess node = node(TestJdks.running()).environment("TROUPE_HEAP", heap).start()) {
      assertThat(node.awaitExit()).isEqualTo(2);
      assertThat(node.err()).contains("TROUPE_HEAP = " + heap, "32m to 4096g");
    }
  }

  // ---- out of memory

  @ParameterizedTest
  @MethodSource(JDKS)
  void outOfMemoryHasItsOwnStatus(Jdk jdk) {
    try (NodeProcess node = node(jdk).environment("TROUPE_JAVA_OPTS", TINY).start();
        NodeProcess etcd = etcd(jdk).environment("TROUPE_JAVA_OPTS", TINY).start()) {
      assertThat(node.awaitExit()).as("%s", node).isEqualTo(OUT_OF_MEMORY);
      assertThat(node.err()).contains(" ERROR ", "out of memory, member stops", "exit-code=138");
      assertThat(etcd.awaitExit()).as("%s", etcd).isEqualTo(OUT_OF_MEMORY);
      assertThat(etcd.err()).contains("\"level\":\"fatal\"", "\"exit-code\":138");
    }
  }

  /** A signal with its default action has no effect on the first process of a container. */
  @NeedsRoot
  @ParameterizedTest
  @MethodSource(JDKS)
  void outOfMemoryOfFirstProcessHasItsOwnStatus(Jdk jdk) {
    try (NodeProcess node =
        node(jdk)
            .environment("TROUPE_JAVA_OPTS", TINY)
            .under("unshare", "--pid", "--fork", "--mount-proc")
            .start()) {
      assertThat(node.awaitExit()).as("%s", node).isEqualTo(OUT_OF_MEMORY);
    }
  }

  @NeedsRoot
  @Test
  void firstProcessOfContainerStopsWithZero_F10() {
    try (NodeProcess node =
        node(TestJdks.running())
            .under("unshare", "--pid", "--fork", "--mount-proc")
            .start()
            .awaitReady()) {
      List<ProcessHandle> first = ProcessHandle.of(node.pid()).orElseThrow().children().toList();
      assertThat(first).hasSize(1);
      first.get(0).destroy();
      assertThat(node.awaitExit()).as("%s", node).isZero();
      assertThat(node.err()).contains(" stopped").doesNotContain("ERROR");
    }
  }

  @Test
  void heapDumpIsWrittenToConfiguredPath() throws IOException {
    Path dumps = Files.createDirectory(directory.resolve("dumps"));
    try (NodeProcess node =
        node(TestJdks.running())
            .environment("TROUPE_JAVA_OPTS", TINY)
            .environment("TROUPE_HEAP_DUMPS", dumps.toString())
            .start()) {
      assertThat(node.awaitExit()).as("%s", node).isEqualTo(OUT_OF_MEMORY);
    }
    try (var files = Files.list(dumps)) {
      assertThat(files).anyMatch(file -> file.toString().endsWith(".hprof"));
    }
  }

  /** Memory that JVM options do not check: memory outside of the heap. */
  @ParameterizedTest
  @MethodSource(JDKS)
  void outOfDirectMemoryHasItsOwnStatus(Jdk jdk) {
    try (NodeProcess node =
        node(jdk).environment("TROUPE_JAVA_OPTS", "-XX:MaxDirectMemorySize=64k").start()) {
      assertThat(node.awaitExit()).as("%s", node).isEqualTo(OUT_OF_MEMORY);
      assertThat(node.err()).contains("exit-code=138", "OutOfMemoryError");
    }
  }

  // ---- locale

  @ParameterizedTest
  @MethodSource(JDKS)
  void argumentsAndVariablesAreUtf8WithoutLocale(Jdk jdk) {
    for (String locale : List.of("", "xx_XX.UTF-8")) {
      try (NodeProcess etcd =
          etcd(jdk)
              .args("--name=m\u00fc\u4e16", "--initial-cluster=")
              .args("--warning-unary-request-duration=1\u00b5s")
              .environment("ETCD_INITIAL_CLUSTER_TOKEN", "t\u00f6ken")
              .environment("LC_ALL", "")
              .environment("LC_CTYPE", "")
              .environment("LANG", locale)
              .start()
              .awaitReady()) {
        assertThat(etcd.err())
            .contains("\"name\":\"m\u00fc\u4e16\"")
            .contains("t\u00f6ken")
            .doesNotContain("setlocale", "?");
        etcd.kill();
      }
    }
  }
}
