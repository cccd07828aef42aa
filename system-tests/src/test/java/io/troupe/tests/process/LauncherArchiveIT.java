package io.troupe.tests.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.troupe.testing.FreePort;
import io.troupe.tests.process.TestJdks.Jdk;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The archive that bin/node creates beside a first start: real JDKs show that it is used, a
 * substitute for java shows how it is created.
 */
@Alone
@Tag("full")
@HeapIndependent
class LauncherArchiveIT {
  private static final String JDKS = "io.troupe.tests.process.TestJdks#all";

  /** More calls than start compilation, fewer than start profiles. */
  private static final int PUTS = 2000;

  /**
   * More methods than C2 compiles without profiles of their own, because these have nothing to
   * profile.
   */
  private static final int PROFILED = 40;

  /** Training has the lowest priority: on a busy machine it takes long. */
  private static final Duration TIMEOUT = Duration.ofMinutes(10);

  /**
   * Records how it was started to create an archive, then runs the file "behaviour"; as a member,
   * the file "member".
   */
  private static final String STAND_IN =
      """
      #!/usr/bin/env bash
      here="$(dirname "$0")"
      [[ "$*" == *training=true* ]] || { echo "member $*"; . "$here/member"; exit 0; }
      for arg; do case "$arg" in *ArchiveClassesAtExit=*) archive="${arg#*=}" ;; esac; done
      { echo "nice $(nice)"; echo "options $JAVA_TOOL_OPTIONS"; echo "args $*"; \
        readlink /proc/$$/fd/*; } > "$here/seen.$$"
      mv "$here/seen.$$" "$here/training.$$"
      . "$here/behaviour"
      """;

  @TempDir Path directory = Path.of("");

  private NodeProcess.Builder node(Path home) {
    return node(home, FreePort.next());
  }

  private NodeProcess.Builder node(Path home, int clientPort) {
    return NodeProcess.program(directory, NodeProcess.script("node").toString())
        .environment("JAVA_HOME", home.toString())
        .environment("TROUPE_JAR", NodeProcess.nodeJar().toString())
        .environment("TROUPE_HEAP", TestHeap.size())
        .environment("TROUPE_CACHE", cache().toString())
        .environment("TROUPE_ARCHIVE_SECONDS", Long.toString(TIMEOUT.toSeconds()))
        .args(
            "-Dtroupe.data-dir=" + directory.resolve("data"),
            "-Dtroupe.listen-client-urls=http://127.0.0.1:" + clientPort);
  }

  private Path cache() {
    try {
      return Files.createDirectories(directory.resolve("cache"));
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private List<Path> files(Path folder, String pattern) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.getFileName().toString().matches(pattern)).toList();
    }
  }

  private Path awaitArchive() throws IOException {
    await(() -> !files(cache(), ".*\\.(jsa|aot)").isEmpty());
    awaitNobodyTrains();
    await(() -> files(cache(), "node-.*").size() == 1);
    return files(cache(), ".*\\.(jsa|aot)").get(0);
  }

  /** Its directory goes last; the test's own must not go before. */
  @AfterEach
  void awaitNobodyTrains() {
    await(() -> files(cache(), ".*\\.training.*").isEmpty());
  }

  private static void await(java.util.concurrent.Callable<Boolean> condition) {
    Awaitility.await().atMost(TIMEOUT).pollInterval(Duration.ofMillis(20)).until(condition);
  }

  private static void startAndStop(NodeProcess.Builder builder) throws IOException {
    try (NodeProcess node = builder.start().awaitReady()) {
      assertThat(Files.readString(Path.of("/proc/" + node.pid() + "/cmdline")))
          .as("a member writes no archive when it ends")
          .doesNotContain("AtExit", "CacheOutput", "training");
      assertThat(node.stop()).isEqualTo(143);
    }
  }

  @ParameterizedTest
  @MethodSource(JDKS)
  void secondStartUsesArchiveOfFirstStart(Jdk jdk) throws IOException {
    startAndStop(node(jdk.home()));
    Path archive = awaitArchive();
    Path classes = directory.resolve("classes.log");
    startAndStop(
        node(jdk.home()).environment("TROUPE_JAVA_OPTS", "-Xlog:class+load:file=" + classes));
    assertThat(Files.readString(classes))
        .containsPattern("io\\.troupe\\.node\\.NodeMain source: shared objects file")
        // Only a client call loads this class: the training member was used.
        .containsPattern("io\\.troupe\\.edge\\.calls\\.GrpcHandler source: shared objects file");

    Files.writeString(archive, "no archive at all");
    startAndStop(node(jdk.home()));
  }

  /**
   * Returns a member that started from an archive and logs its compilations.
   *
   * @param options of the JVM, besides those for the log
   */
  private NodeProcess loggingCompilations(Jdk jdk, int port, String options) throws IOException {
    return node(jdk.home(), port)
        .environment("TROUPE_CACHE", TestArchive.directory(jdk))
        .environment("TROUPE_JAVA_OPTS", "-XX:+PrintCompilation " + options)
        .start()
        .awaitReady();
  }

  /**
   * With an archive of JDK 25 the first compiler compiles what requests run without profiles, as
   * the training showed. Without, or on an older JDK, it compiles with profiles.
   */
  @ParameterizedTest
  @MethodSource(JDKS)
  void requestsAfterStartRunCodeWithoutProfiles(Jdk jdk) throws IOException {
    int port = FreePort.next();
    try (NodeProcess node = loggingCompilations(jdk, port, "")) {
      put("127.0.0.1:" + port, PUTS);
      assertThat(node.stop()).isEqualTo(143);
      long withoutProfiles = compilations(node.out(), "2");
      long withProfiles = compilations(node.out(), "3");
      long least = 100;
      if (jdk.major() >= 25) {
        assertThat(withoutProfiles).isGreaterThan(Math.max(least, withProfiles));
      } else {
        assertThat(withProfiles).isGreaterThan(Math.max(least, withoutProfiles));
      }
    }
  }

  /**
   * The archive of JDK 25 has profiles: C2 compiles most methods of the training without a stage of
   * code that collects profiles. C2 begins earlier here than by default.
   */
  @ParameterizedTest
  @MethodSource("jdksWithProfilesInArchive")
  void secondCompilerUsesProfilesOfTraining(Jdk jdk) throws IOException {
    int port = FreePort.next();
    try (NodeProcess node = loggingCompilations(jdk, port, "-XX:Tier2InvokeNotifyFreqLog=9")) {
      put("127.0.0.1:" + port, PUTS);
      Awaitility.await()
          .atMost(TIMEOUT)
          .untilAsserted(() -> assertThat(methods(node.out(), "2", "4")).isGreaterThan(PROFILED));
      assertThat(node.stop()).isEqualTo(143);
      assertThat(methods(node.out(), "2", "4")).isGreaterThan(methods(node.out(), "2", "3"));
    }
  }

  private static Stream<Jdk> jdksWithProfilesInArchive() {
    return TestJdks.all().stream().filter(jdk -> jdk.major() >= 25);
  }

  private static void put(String endpoint, int count) {
    ManagedChannel channel =
        Grpc.newChannelBuilder(endpoint, InsecureChannelCredentials.create()).build();
    try {
      KVGrpc.KVBlockingStub kv = KVGrpc.newBlockingStub(channel);
      for (int i = 0; i < count; i++) {
        kv.put(PutRequest.newBuilder().setKey(ByteString.copyFromUtf8("key" + i % 10)).build());
      }
    } finally {
      channel.shutdownNow();
    }
  }

  /** Counts compilations of methods of this project at a level of the compilers. */
  private static long compilations(String log, String level) {
    return levels(log).values().stream().flatMap(List::stream).filter(level::equals).count();
  }

  /** Counts methods of this project whose first compilations have these levels, in this order. */
  private static long methods(String log, String first, String second) {
    return levels(log).values().stream()
        .filter(all -> all.size() > 1 && all.subList(0, 2).equals(List.of(first, second)))
        .count();
  }

  /** Returns the levels of each method of this project that the log of compilations names. */
  private static Map<String, List<String>> levels(String log) {
    return Pattern.compile(
            "^ *\\d+ +\\d+[ %sbn!]* ([1-4]) +(io\\.troupe\\.\\S+)", Pattern.MULTILINE)
        .matcher(log)
        .results()
        .collect(
            Collectors.groupingBy(
                found -> found.group(2),
                Collectors.mapping(found -> found.group(1), Collectors.toList())));
  }

  @Test
  void archiveCanBeCreatedBeforeFirstStartWithDefaultPortsInUse() throws IOException {
    try (ServerSocket peers = taken(2380);
        ServerSocket clients = taken(2379);
        NodeProcess make =
            node(TestJdks.running().home()).environment("TROUPE_ARCHIVE", "make").start()) {
      await(() -> !make.isAlive());
      assertThat(make.awaitExit()).as(make.toString()).isZero();
      assertThat(make.out().trim()).isEqualTo(awaitArchive().toString());
    }
  }

  /** Acquired by this test, or by another process. */
  private static ServerSocket taken(int port) throws IOException {
    ServerSocket socket = new ServerSocket();
    try {
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    } catch (BindException inUse) {
      assertThat(inUse).isNotNull();
    }
    return socket;
  }

  private Path standIn(String behaviour) throws IOException {
    Path home = directory.resolve("jdk");
    Path java = Files.createDirectories(home.resolve("bin")).resolve("java");
    Files.writeString(home.resolve("release"), "JAVA_VERSION=\"17.0.1\"\n");
    Files.writeString(java, STAND_IN);
    assertThat(java.toFile().setExecutable(true)).isTrue();
    Files.writeString(java.resolveSibling("behaviour"), behaviour);
    Files.writeString(java.resolveSibling("member"), "");
    return home;
  }

  private void run(NodeProcess.Builder builder) {
    try (NodeProcess node = builder.start()) {
      assertThat(node.awaitExit()).as(node.toString()).isZero();
      assertThat(node.out()).startsWith("member ");
      assertThat(node.err()).isEmpty();
    }
  }

  private List<Path> trainings(Path home) throws IOException {
    return files(home.resolve("bin"), "training\\.[0-9]+");
  }

  @Test
  void archiveIsCreatedWithoutUserSettings() throws IOException {
    Path home = standIn("echo bytes > \"$archive\"; read -r line && exit 1; exit 0");
    run(
        node(home)
            .input("what the member reads")
            .environment("JAVA_TOOL_OPTIONS", "-Dagent=1")
            .environment("TROUPE_JAVA_OPTS", "-Dmine=1")
            .args("-Dtroupe.name=mine"));
    assertThat(awaitArchive()).hasContent("bytes");
    String seen = Files.readString(trainings(home).get(0));
    assertThat(seen).contains("nice 19", "options \n").doesNotContain("mine");
    assertThat(seen)
        .as("descriptors of the launcher")
        .doesNotContain(directory.resolve("logs").toString());
  }

  @Test
  void onlyOneArchiveIsCreatedAtOnce() throws IOException {
    Path gate = directory.resolve("gate");
    Path home =
        standIn("until [ -e '" + gate + "' ]; do sleep 0.05; done; echo bytes > \"$archive\"");
    run(node(home));
    await(() -> trainings(home).size() == 1);
    run(node(home));
    // The second script finds the first one and exits: the only effect is that no second training
    // starts.
    try (NodeProcess make = node(home).environment("TROUPE_ARCHIVE", "make").start()) {
      assertThat(make.awaitExit()).isEqualTo(1);
    }
    Files.createFile(gate);
    awaitArchive();
    assertThat(trainings(home)).hasSize(1);
  }

  @Test
  void killedMemberGetsArchive() throws IOException {
    Path gate = directory.resolve("gate");
    Path home =
        standIn("until [ -e '" + gate + "' ]; do sleep 0.05; done; echo bytes > \"$archive\"");
    Files.writeString(home.resolve("bin/member"), "exec sleep 600");
    try (NodeProcess member = node(home).start()) {
      await(() -> trainings(home).size() == 1);
      member.kill();
    }
    Files.createFile(gate);
    assertThat(awaitArchive()).hasContent("bytes");
  }

  @Test
  void killedArchiveRunIsNoticed() throws IOException {
    // The parent of the substitute is the time limit, and its parent the script that holds the
    // lock.
    Path home = standIn("kill -9 $(ps -o ppid= -p $PPID) $$");
    run(node(home));
    await(() -> trainings(home).size() == 1);
    Path work = files(cache(), ".*\\.training").get(0);
    String owner = Files.readString(work.resolve("owner")).trim().replaceAll(".* ", "");
    await(() -> !Files.exists(Path.of("/proc", owner)));

    Files.writeString(home.resolve("bin/behaviour"), "echo bytes > \"$archive\"");
    run(node(home));
    assertThat(awaitArchive()).hasContent("bytes");
  }

  /** For example another process took the port that the training chose. */
  @Test
  void failedTrainingIsRepeatedOnce() throws IOException {
    Path home =
        standIn(
            "[ $(ls \"$here\"/training.* | wc -l) -ge 2 ] || { echo lost the port >&2; exit 1; };"
                + " echo bytes > \"$archive\"");
    try (NodeProcess make = node(home).environment("TROUPE_ARCHIVE", "make").start()) {
      assertThat(make.awaitExit()).as(make.toString()).isZero();
      assertThat(Path.of(make.out().strip())).hasContent("bytes");
    }
    assertThat(trainings(home)).hasSize(2);
    assertThat(Files.readString(files(cache(), "node-.*\\.log").get(0)))
        .contains("lost the port", "training 1 failed: the member exited with status 1");
  }

  @Test
  void failureIsLoggedAndNotRepeatedImmediately() throws IOException {
    Path home = standIn("echo this went wrong >&2; exit 3");
    run(node(home));
    await(() -> !trainings(home).isEmpty());
    awaitNobodyTrains();
    assertThat(Files.readString(files(cache(), "node-.*\\.log").get(0)))
        .contains("this went wrong", "no archive: the training member exited with status 3");
    assertThat(trainings(home)).hasSize(2);
    run(node(home));
    assertThat(files(cache(), ".*\\.training")).isEmpty();
    assertThat(trainings(home)).hasSize(2);
  }

  @Test
  void archiveRunHasTimeLimit() throws IOException {
    Path home = standIn("while true; do sleep 0.1; done");
    run(node(home).environment("TROUPE_ARCHIVE_SECONDS", "1"));
    await(() -> !trainings(home).isEmpty());
    awaitNobodyTrains();
    assertThat(Files.readString(files(cache(), "node-.*\\.log").get(0))).contains("status 137");
    assertThat(trainings(home)).hasSize(1);
  }

  @Test
  void archiveCanBeDisabled() throws IOException {
    Path home = standIn("echo bytes > \"$archive\"");
    run(node(home).environment("TROUPE_ARCHIVE", "off"));
    assertThat(files(cache(), "node-.*")).isEmpty();
    assertThat(trainings(home)).isEmpty();
  }
}
