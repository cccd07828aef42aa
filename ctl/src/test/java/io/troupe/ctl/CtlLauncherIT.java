package io.troupe.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.troupe.testkit.TroupeServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script bin/ctl with the jar of this build. */
@Tag("full")
@Tag("heap-independent")
class CtlLauncherIT {
  private static final Path SCRIPT = Path.of("../bin/ctl").toAbsolutePath().normalize();

  @SuppressWarnings("NullAway.Init")
  @TempDir
  private Path cache;

  private record Output(String out, String err, int exit) {}

  private ProcessBuilder builder(Map<String, String> environment, String... args) {
    List<String> command = new ArrayList<>(List.of(SCRIPT.toString()));
    command.addAll(List.of(args));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().keySet().removeIf(name -> name.startsWith("ETCDCTL_"));
    builder.environment().put("TROUPE_CACHE", cache.toString());
    builder.environment().putAll(environment);
    return builder;
  }

  /** What a script of this build prints. */
  private String printed(String script, String... args) throws Exception {
    ProcessBuilder builder = builder(Map.of("TROUPE_ARCHIVE", "off"), args);
    builder.command().set(0, SCRIPT.resolveSibling(script).toString());
    Path out = Files.createTempFile(cache, script, "");
    Process process = builder.redirectOutput(out.toFile()).start();
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isZero();
    return Files.readString(out);
  }

  /** All of it comes from one property of the build. */
  @Test
  void programsAndMemberShowOneVersion_V6() throws Exception {
    try (TroupeServer server = TroupeServer.builder().start()) {
      HttpResponse<String> reply =
          HttpClient.newHttpClient()
              .send(
                  HttpRequest.newBuilder(URI.create(server.endpoint() + "/version")).build(),
                  HttpResponse.BodyHandlers.ofString());
      Matcher member =
          Pattern.compile("\"etcdserver\":\"(3\\.[0-9]+\\.[0-9]+)\"").matcher(reply.body());
      assertThat(member.find()).as(reply.body()).isTrue();
      String version = member.group(1);
      assertThat(printed("etcd", "--version")).startsWith("etcd Version: " + version + "\n");
      assertThat(printed("node", "--version")).endsWith(" serves etcd API " + version + "\n");
      assertThat(printed("ctl", "version"))
          .isEqualTo(
              "etcdctl version: "
                  + version
                  + "\nAPI version: "
                  + version.substring(0, version.lastIndexOf('.'))
                  + "\n");
      assertThat(
              printed("ctl", "--endpoints=" + server.endpoint(), "endpoint", "status", "-w=json"))
          .contains("\"version\":\"" + version + "\"");
    }
  }

  private Output run(Map<String, String> environment, String... args) throws Exception {
    Path out = Files.createTempFile(cache, "out", "");
    Path err = Files.createTempFile(cache, "err", "");
    Process process =
        builder(environment, args).redirectOutput(out.toFile()).redirectError(err.toFile()).start();
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    return new Output(Files.readString(out), Files.readString(err), process.exitValue());
  }

  private long archives() throws IOException {
    try (Stream<Path> files = Files.list(cache)) {
      return files.filter(file -> file.toString().endsWith(".jsa")).count();
    }
  }

  @Test
  void firstCommandCreatesTheArchiveInTheBackground() throws Exception {
    Output output = run(Map.of(), "version");
    assertThat(output.out()).isEqualTo("etcdctl version: 3.7.1\nAPI version: 3.7\n");
    assertThat(output.exit()).isZero();
    Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> archives() == 1);
    assertThat(run(Map.of(), "version").out()).startsWith("etcdctl version");
  }

  @Test
  void exitCodesAndErrorsReachTheShell_CT3() throws Exception {
    Output output = run(Map.of("TROUPE_ARCHIVE", "off"), "get");
    assertThat(output.exit()).isEqualTo(128);
    assertThat(output.err())
        .isEqualTo(
            "Error: get command needs one argument as key and an optional argument as range_end\n");
    Output unreachable =
        run(
            Map.of("TROUPE_ARCHIVE", "off"),
            "--endpoints=127.0.0.1:1",
            "--command-timeout=200ms",
            "get",
            "a");
    assertThat(unreachable.exit()).isEqualTo(1);
    assertThat(unreachable.err())
        .contains("Warning: endpoint 127.0.0.1:1: cannot connect")
        .endsWith("Error: context deadline exceeded\n");
  }

  /** The other commands on backups are in the jar of the server. */
  @Test
  void backupNowIsACommandOnARunningCluster() throws Exception {
    Output output =
        run(
            Map.of("TROUPE_ARCHIVE", "off"),
            "backup",
            "now",
            "--endpoints=127.0.0.1:1",
            "--command-timeout=500ms");
    assertThat(output.exit()).isEqualTo(1);
    assertThat(output.err()).contains("127.0.0.1:1", "context deadline exceeded");
  }

  @Test
  void keysAndValuesAreBytes() throws Exception {
    try (TroupeServer server = TroupeServer.builder().start()) {
      Map<String, String> environment =
          Map.of("ETCDCTL_ENDPOINTS", server.endpoint(), "TROUPE_ARCHIVE", "off", "LC_ALL", "C");
      // Bash passes the bytes; Java's process builder would encode them.
      ProcessBuilder put = builder(environment);
      put.command("bash", "-c", SCRIPT + " put $'k\\xff\\xc3\\xa9' $'v\\x80'");
      Process done = put.redirectOutput(cache.resolve("out").toFile()).start();
      assertThat(done.waitFor(30, TimeUnit.SECONDS)).isTrue();
      assertThat(Files.readString(cache.resolve("out"))).isEqualTo("OK\n");
      Path got = cache.resolve("got");
      ProcessBuilder get = builder(environment, "get", "k", "--prefix");
      Process read = get.redirectOutput(got.toFile()).start();
      assertThat(read.waitFor(30, TimeUnit.SECONDS)).isTrue();
      assertThat(ByteString.copyFrom(Files.readAllBytes(got)))
          .isEqualTo(
              ByteString.copyFrom(
                  new byte[] {
                    'k', (byte) 0xff, (byte) 0xc3, (byte) 0xa9, '\n', 'v', (byte) 0x80, '\n'
                  }));
    }
  }

  @Test
  void interruptReleasesTheLock() throws Exception {
    try (TroupeServer server = TroupeServer.builder().start()) {
      Map<String, String> environment =
          Map.of("ETCDCTL_ENDPOINTS", server.endpoint(), "TROUPE_ARCHIVE", "off");
      Path out = cache.resolve("lock");
      Process lock = builder(environment, "lock", "l").redirectOutput(out.toFile()).start();
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> Files.readString(out, StandardCharsets.UTF_8).startsWith("l/"));
      lock.destroy();
      assertThat(lock.waitFor(30, TimeUnit.SECONDS)).isTrue();
      assertThat(lock.exitValue()).isZero();
      assertThat(run(environment, "get", "l/", "--prefix").out()).isEmpty();
    }
  }
}
