package io.troupe.node.crash;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/**
 * One member as a process of its own, started from {@code target/node.jar} (or the system property
 * {@code troupe.node.jar}); its output goes to a file. Closing it kills it.
 */
final class MemberProcess implements AutoCloseable {
  private static final String READY = "ready to serve client requests";

  private final Process process;
  private final Path log;
  private final int port;

  private MemberProcess(Process process, Path log, int port) {
    this.process = process;
    this.log = log;
    this.port = port;
  }

  /**
   * Starts a member on a free port of the loopback address; returns at once.
   *
   * @param javaHome the JDK that runs it
   * @param log file for its output, replaced
   * @param settings keys below {@code troupe.}
   */
  static MemberProcess start(Path javaHome, Path dataDir, Path log, Map<String, String> settings) {
    int port = freePort();
    List<String> command = new ArrayList<>();
    command.add(javaHome.resolve("bin/java").toString());
    command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-jar", jar().toString()));
    command.add("-Dtroupe.data-dir=" + dataDir);
    command.add("-Dtroupe.listen-client-urls=http://127.0.0.1:" + port);
    settings.forEach((key, value) -> command.add("-Dtroupe." + key + "=" + value));
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start();
      return new MemberProcess(process, log, port);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path jar() {
    Path jar = Path.of(System.getProperty("troupe.node.jar", "target/node.jar"));
    if (!Files.isRegularFile(jar)) {
      throw new IllegalStateException(jar.toAbsolutePath() + " is missing: run mvn package first");
    }
    return jar.toAbsolutePath();
  }

  private static int freePort() {
    try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return probe.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns when it serves clients; fails with its output when it ends instead. */
  MemberProcess awaitReady() {
    Awaitility.await("member ready")
        .atMost(Duration.ofMinutes(2))
        .pollInterval(Duration.ofMillis(20))
        .until(() -> !process.isAlive() || output().contains(READY));
    if (!process.isAlive()) {
      throw new AssertionError(
          "the member ended, exit code " + process.exitValue() + "\n" + output());
    }
    return this;
  }

  /** Where clients reach it. */
  int port() {
    return port;
  }

  /** A client of it; the caller closes it. */
  EtcdClient client() {
    return new EtcdClient(port);
  }

  /** All it has written so far. */
  String output() {
    try {
      return Files.exists(log) ? new String(Files.readAllBytes(log), StandardCharsets.UTF_8) : "";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** kill -9, and waits until it is gone. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    awaitExit();
  }

  /** SIGTERM, and waits for its end. */
  int terminate() throws InterruptedException {
    process.destroy();
    return awaitExit();
  }

  /** Its exit code; fails when it goes on for a minute. */
  int awaitExit() throws InterruptedException {
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      throw new AssertionError("the member does not end\n" + output());
    }
    return process.exitValue();
  }

  /** SIGSTOP: it does not run until {@link #resume}. */
  void pause() {
    signal("-STOP");
  }

  /** SIGCONT. */
  void resume() {
    signal("-CONT");
  }

  private void signal(String signal) {
    Commands.run("kill", signal, Long.toString(process.pid()));
  }

  @Override
  public void close() throws InterruptedException {
    if (process.isAlive()) {
      kill();
    }
  }
}
