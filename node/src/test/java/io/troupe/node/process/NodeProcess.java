package io.troupe.node.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * A process under test with its log: a member, or anything else that ends by itself. Standard
 * output and standard error go into files beside each other, so nothing blocks on a full pipe and a
 * failed test keeps what was said. Closing it kills what still runs.
 *
 * <pre>{@code
 * try (NodeProcess node = NodeProcess.member(jdk, dir).start()) {
 *   node.awaitReady();
 *   ... node.endpoint() ...
 *   node.kill();                     // as kill -9
 * }
 * }</pre>
 */
public final class NodeProcess implements AutoCloseable {
  /** What a member prints once it serves. */
  public static final String READY = "ready to serve client requests";

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final List<String> command;
  private final Path out;
  private final Path err;
  private final int port;
  private final Process process;

  private NodeProcess(List<String> command, Path out, Path err, int port, Process process) {
    this.command = command;
    this.out = out;
    this.err = err;
    this.port = port;
    this.process = process;
  }

  /** What shall be started. */
  public static final class Builder {
    private final List<String> command = new ArrayList<>();
    private final Map<String, String> environment = new HashMap<>();
    private final Path logs;
    private String name = "node";
    private String input = "";
    private int port;

    private Builder(Path logs) {
      this.logs = logs;
    }

    /** More arguments at the end of the command. */
    public Builder args(String... more) {
      command.addAll(Arrays.asList(more));
      return this;
    }

    /** An environment variable. */
    public Builder environment(String key, String value) {
      environment.put(key, value);
      return this;
    }

    /** What it reads from its standard input. */
    public Builder input(String text) {
      this.input = text;
      return this;
    }

    /** Start of the log files' names; "node" unless told. */
    public Builder named(String logName) {
      this.name = logName;
      return this;
    }

    /** Starts it; does not wait for anything. */
    public NodeProcess start() {
      try {
        Files.createDirectories(logs);
        Path out = Files.createTempFile(logs, name + "-", ".out");
        Path err = Path.of(out.toString().replaceAll("\\.out$", ".err"));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(environment);
        if (!input.isEmpty()) {
          Path in = Path.of(out.toString().replaceAll("\\.out$", ".in"));
          Files.writeString(in, input);
          builder.redirectInput(in.toFile());
        }
        builder.redirectOutput(Redirect.to(out.toFile()));
        builder.redirectError(Redirect.to(err.toFile()));
        return new NodeProcess(List.copyOf(command), out, err, port, builder.start());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /**
   * A member from node.jar: {@code java -jar node.jar} with a free client port and {@code
   * directory/data} as its data directory.
   *
   * @param directory of this member alone; logs go to {@code directory/logs}
   */
  public static Builder member(TestJdks.Jdk jdk, Path directory) {
    int port = freePort();
    Builder builder = jar(jdk, directory, List.of());
    builder.port = port;
    return builder.args(
        "-Dtroupe.data-dir=" + directory.resolve("data"),
        "-Dtroupe.listen-client-urls=http://127.0.0.1:" + port);
  }

  /**
   * node.jar without any argument of its own.
   *
   * @param beforeJar JVM options, system properties for example
   */
  public static Builder jar(TestJdks.Jdk jdk, Path directory, List<String> beforeJar) {
    Builder builder = new Builder(directory.resolve("logs"));
    builder.args(jdk.java().toString(), "-Xmx512m", "-XX:+UseSerialGC");
    builder.command.addAll(beforeJar);
    return builder.args("-jar", nodeJar().toString());
  }

  /** Any other program. */
  public static Builder program(Path directory, String... command) {
    return new Builder(directory.resolve("logs")).named("program").args(command);
  }

  /** The jar that this build made. */
  public static Path nodeJar() {
    return existing(moduleDir().resolve("target/node.jar"));
  }

  /** A file of the project's bin folder. */
  public static Path script(String name) {
    return existing(moduleDir().resolveSibling("bin").resolve(name));
  }

  private static Path existing(Path file) {
    if (!Files.isRegularFile(file)) {
      throw new IllegalStateException(file + " is missing: mvn package makes it");
    }
    return file;
  }

  /** Surefire and Failsafe run in the module's directory. */
  private static Path moduleDir() {
    Path here = Path.of("").toAbsolutePath();
    return here.endsWith("node") ? here : here.resolve("node");
  }

  /** A port that nobody listened on a moment ago. */
  public static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns once the member said that it serves; fails if it ends before. */
  public NodeProcess awaitReady() {
    try {
      Awaitility.await()
          .atMost(PATIENCE)
          .pollInterval(Duration.ofMillis(20))
          .until(() -> !process.isAlive() || out().contains(READY));
    } catch (ConditionTimeoutException late) {
      throw new IllegalStateException("not ready in time: " + this, late);
    }
    if (!out().contains(READY)) {
      throw new IllegalStateException("ended before it was ready: " + this);
    }
    return this;
  }

  /** Where clients connect, as host:port; only of a member. */
  public String endpoint() {
    return "127.0.0.1:" + port();
  }

  /** The client port; only of a member. */
  public int port() {
    if (port == 0) {
      throw new IllegalStateException("no member of a known port: " + command);
    }
    return port;
  }

  /** Its process id. */
  public long pid() {
    return process.pid();
  }

  /** Whether it runs. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** Everything on standard output so far. */
  public String out() {
    return read(out);
  }

  /** Everything on standard error so far: a member's log. */
  public String err() {
    return read(err);
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends it at once, as kill -9 does, and waits until it is gone. */
  public void kill() {
    process.destroyForcibly();
    awaitExit();
  }

  /** Asks it to end, as kill -TERM does. */
  public void terminate() {
    process.destroy();
  }

  /** Waits for its end and gives its exit status; 128 and the signal's number after a signal. */
  public int awaitExit() {
    try {
      if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        throw new IllegalStateException("did not end in time: " + this);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for " + command, e);
    }
    return process.exitValue();
  }

  @Override
  public void close() {
    if (process.isAlive()) {
      kill();
    }
  }

  @Override
  public String toString() {
    return command
        + (process.isAlive() ? " running" : " exit=" + process.exitValue())
        + "\nstdout:\n"
        + out()
        + "\nstderr:\n"
        + err();
  }
}
