package io.troupe.tests.process;

import io.troupe.testing.FreePort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * A process under test with its log: a member, or anything else that ends by itself. Standard
 * output and standard error go into files beside each other, so nothing blocks on a full pipe and a
 * failed test keeps the output. Closing it kills what still runs. Several run side by side, each
 * with a directory of its own.
 *
 * <pre>{@code
 * NodeProcess.Builder member = NodeProcess.member(jdk, dir).setting("snapshot-count", "500");
 * try (NodeProcess node = member.start().awaitReady()) {
 *   ... node.endpoint() ...
 *   node.kill();                                    // as kill -9
 *   try (NodeProcess again = node.restart().awaitReady()) { ... }   // same data, same port
 * }
 * }</pre>
 */
public final class NodeProcess implements AutoCloseable {
  /** The line that a member prints once it serves. */
  public static final String READY = "ready to serve client requests";

  private static final Duration TIMEOUT = Duration.ofMinutes(2);
  private static final Duration POLL = Duration.ofMillis(20);

  /** As in bin/node with an archive of JDK 25 on few processors. */
  static final List<String> TRAINED_COMPILERS =
      List.of(
          "-XX:Tier0InvokeNotifyFreqLog=8",
          "-XX:Tier0BackedgeNotifyFreqLog=11",
          "-XX:Tier2InvokeNotifyFreqLog=15",
          "-XX:Tier2BackedgeNotifyFreqLog=17",
          "-XX:Tier3InvocationThreshold=130",
          "-XX:Tier3MinInvocationThreshold=65",
          "-XX:Tier3CompileThreshold=1300",
          "-XX:Tier4InvocationThreshold=20000",
          "-XX:Tier4MinInvocationThreshold=2400",
          "-XX:Tier4CompileThreshold=60000",
          "-XX:CICompilerCount=12");

  /** As in bin/node: starts of several members on two cores are mostly compilation. */
  static final List<String> LATE_COMPILERS =
      Stream.concat(
              Stream.of(
                  "-XX:Tier3InvocationThreshold=800",
                  "-XX:Tier3MinInvocationThreshold=400",
                  "-XX:Tier3CompileThreshold=8000",
                  "-XX:Tier4InvocationThreshold=32000",
                  "-XX:Tier4MinInvocationThreshold=4000",
                  "-XX:Tier4CompileThreshold=100000",
                  "-XX:Tier4BackEdgeThreshold=400000",
                  "-XX:Tier0InvokeNotifyFreqLog=9",
                  "-XX:Tier0BackedgeNotifyFreqLog=12",
                  "-XX:Tier23InlineeNotifyFreqLog=22",
                  "-XX:Tier3InvokeNotifyFreqLog=12",
                  "-XX:Tier3BackedgeNotifyFreqLog=15",
                  "-XX:CompileCommand=quiet"),
              Stream.of(
                      "io.troupe",
                      "org.apache.pekko",
                      "net.openhft",
                      "org.rocksdb",
                      "com.google.protobuf",
                      "java.util.concurrent")
                  .map(name -> "-XX:CompileCommand=CompileThresholdScaling," + name + ".*::*,0.25"))
          .toList();

  private final Builder made;
  private final Path out;
  private final Path err;
  private final Process process;

  /** How the process ended before the test closed it; empty while that is not so. */
  private volatile String endedBefore = "";

  private NodeProcess(Builder made, Path out, Path err, Process process) {
    this.made = made;
    this.out = out;
    this.err = err;
    this.process = process;
  }

  /** The description of a process, for any number of starts. */
  public static final class Builder {
    private final List<String> program;
    private final List<String> args = new ArrayList<>();
    private final Map<String, String> environment = new HashMap<>();
    private final Path logs;
    private String name = "node";
    private String input = "";
    private int port;

    private Builder(Path logs, List<String> program) {
      this.logs = logs;
      this.program = new ArrayList<>(program);
    }

    private Builder copy() {
      Builder copy = new Builder(logs, program);
      copy.args.addAll(args);
      copy.environment.putAll(environment);
      copy.name = name;
      copy.input = input;
      copy.port = port;
      return copy;
    }

    /** Adds arguments at the end of the command. */
    public Builder args(String... more) {
      args.addAll(List.of(more));
      return this;
    }

    /**
     * A setting of a member; the last value of a key wins.
     *
     * @param key without {@code troupe.}
     */
    public Builder setting(String key, String value) {
      return args("-Dtroupe." + key + "=" + value);
    }

    /** Several settings of a member, by keys without {@code troupe.}. */
    public Builder settings(Map<String, String> settings) {
      settings.forEach(this::setting);
      return this;
    }

    /** A program that starts the command as its arguments. */
    public Builder under(String... starter) {
      program.addAll(0, List.of(starter));
      return this;
    }

    /** An environment variable. */
    public Builder environment(String key, String value) {
      environment.put(key, value);
      return this;
    }

    /** The content of its standard input. */
    public Builder input(String text) {
      this.input = text;
      return this;
    }

    /** Prefix of the log file names; "node" by default. */
    public Builder named(String logName) {
      this.name = logName;
      return this;
    }

    /** Starts the process without waiting. Later changes of the builder have no effect. */
    public NodeProcess start() {
      try {
        Files.createDirectories(logs);
        Path out = Files.createTempFile(logs, name + "-", ".out");
        Path err = Path.of(out.toString().replaceAll("\\.out$", ".err"));
        List<String> command = new ArrayList<>(program);
        command.addAll(args);
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(environment);
        if (!input.isEmpty()) {
          Path in = Path.of(out.toString().replaceAll("\\.out$", ".in"));
          Files.writeString(in, input);
          builder.redirectInput(in.toFile());
        }
        builder.redirectOutput(Redirect.to(out.toFile()));
        builder.redirectError(Redirect.to(err.toFile()));
        NodeProcess started = new NodeProcess(copy(), out, err, builder.start());
        FailedTestLogs.started(started);
        return started;
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
   * @param jvmOptions more of them; a later one wins over what is set anyway, the heap for example
   */
  public static Builder member(TestJdks.Jdk jdk, Path directory, String... jvmOptions) {
    Builder builder = jar(jdk, directory, List.of(jvmOptions));
    builder.port = FreePort.next();
    return builder
        .setting("data-dir", directory.resolve("data").toString())
        .setting("listen-client-urls", "http://127.0.0.1:" + builder.port);
  }

  /** Settings that give a member a separate peer port. */
  public static List<String> peerPort() {
    String url = "http://127.0.0.1:" + FreePort.next();
    return List.of(
        "-Dtroupe.listen-peer-urls=" + url, "-Dtroupe.initial-advertise-peer-urls=" + url);
  }

  /**
   * node.jar without arguments, but with a free peer port.
   *
   * @param beforeJar JVM options, system properties for example
   */
  public static Builder jar(TestJdks.Jdk jdk, Path directory, List<String> beforeJar) {
    List<String> command = new ArrayList<>();
    command.addAll(List.of(jdk.java().toString(), "-Xmx" + TestHeap.size(), "-XX:+UseSerialGC"));
    command.addAll(jdk.major() >= 25 ? TRAINED_COMPILERS : LATE_COMPILERS);
    command.addAll(TestArchive.options(jdk));
    command.addAll(peerPort());
    command.addAll(beforeJar);
    command.addAll(List.of("-jar", nodeJar().toString()));
    return new Builder(directory.resolve("logs"), command);
  }

  /** Any other program. */
  public static Builder program(Path directory, String... command) {
    return new Builder(directory.resolve("logs"), List.of(command)).named("program");
  }

  /** The jar of this build. */
  public static Path nodeJar() {
    return existing(root().resolve("node/target/node.jar"));
  }

  /** A file of the project's bin directory. */
  public static Path script(String name) {
    return existing(root().resolve("bin").resolve(name));
  }

  private static Path existing(Path file) {
    if (!Files.isRegularFile(file)) {
      throw new IllegalStateException(file + " is missing: mvn package makes it");
    }
    return file;
  }

  /** Surefire and Failsafe run in the module's directory. */
  static Path root() {
    Path here = Path.of("").toAbsolutePath();
    return here.endsWith("system-tests") ? Objects.requireNonNull(here.getParent()) : here;
  }

  /** Returns once the member reports that it serves; fails if the process ends before. */
  public NodeProcess awaitReady() {
    // With a JSON log only the log reports it.
    awaitText("ready", () -> out() + err(), READY);
    return this;
  }

  /**
   * Waits for a line of the log (standard error).
   *
   * @param part what the line holds
   * @return the first such line, whole
   * @throws IllegalStateException with the log if the process ends without it, or lets wait too
   *     long
   */
  public String awaitLine(String part) {
    awaitText("a line with \"" + part + "\"", this::completeLines, part);
    return completeLines().lines().filter(line -> line.contains(part)).findFirst().orElseThrow();
  }

  private String completeLines() {
    String text = err();
    return text.substring(0, text.lastIndexOf('\n') + 1);
  }

  private void awaitText(String what, Supplier<String> text, String part) {
    try {
      Awaitility.await()
          .atMost(TIMEOUT)
          .pollInterval(POLL)
          .until(() -> !process.isAlive() || text.get().contains(part));
    } catch (ConditionTimeoutException late) {
      throw new IllegalStateException("not in time: " + what + ": " + this, late);
    }
    if (!text.get().contains(part)) {
      throw new IllegalStateException("ended before " + what + ": " + this);
    }
  }

  /**
   * Starts the same command again: on the same data directory, at the same port, with log files of
   * its own.
   *
   * @throws IllegalStateException if this one still runs
   */
  public NodeProcess restart() {
    if (process.isAlive()) {
      throw new IllegalStateException("still running: " + this);
    }
    return made.start();
  }

  /** The client endpoint, host:port; only of a member. */
  public String endpoint() {
    return "127.0.0.1:" + port();
  }

  /** The client port; only of a member. */
  public int port() {
    if (made.port == 0) {
      throw new IllegalStateException("no member of a known port: " + made.program);
    }
    return made.port;
  }

  /** The process ID. */
  public long pid() {
    return process.pid();
  }

  /** Whether the process runs. */
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
      // Lenient: the last character may be half written.
      return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Kills it with SIGKILL, and waits until it has ended. */
  public void kill() {
    process.destroyForcibly();
    awaitExit();
  }

  /** Sends SIGTERM. */
  public void terminate() {
    process.destroy();
  }

  /** Sends SIGTERM and waits for the end; returns the exit status. */
  public int stop() {
    terminate();
    return awaitExit();
  }

  /** Pauses the process (SIGSTOP) until {@link #resume}. */
  public void pause() {
    signal("-STOP");
    Awaitility.await().atMost(TIMEOUT).pollInterval(POLL).until(this::isStopped);
  }

  /** Continues after {@link #pause} (SIGCONT). */
  public void resume() {
    signal("-CONT");
  }

  private boolean isStopped() throws IOException {
    String stat = Files.readString(Path.of("/proc", Long.toString(pid()), "stat"));
    // The name before it is in parentheses and may hold any text.
    return stat.charAt(stat.lastIndexOf(')') + 2) == 'T';
  }

  private void signal(String signal) {
    try {
      Process kill = new ProcessBuilder("kill", signal, Long.toString(pid())).start();
      if (kill.waitFor() != 0) {
        throw new IllegalStateException("kill " + signal + " failed: " + this);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while sending " + signal, e);
    }
  }

  /** Waits for the end and returns the exit status; 128 plus the signal number after a signal. */
  public int awaitExit() {
    try {
      if (!process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
        throw new IllegalStateException("did not end in time: " + this);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for " + made.program, e);
    }
    return process.exitValue();
  }

  @Override
  public void close() {
    if (process.isAlive()) {
      kill();
    } else {
      endedBefore = " before the test closed it";
    }
  }

  /** The process, how it ended, and the last lines of its log. */
  String summary(int lines) {
    return made.name
        + " pid="
        + pid()
        + (process.isAlive() ? " running" : " exit=" + process.exitValue() + endedBefore)
        + "\n"
        + FailedTestLogs.lastLines(FailedTestLogs.ifPresent(this::err), lines);
  }

  @Override
  public String toString() {
    return made.program
        + " "
        + made.args
        + (process.isAlive() ? " running" : " exit=" + process.exitValue())
        + "\nstdout:\n"
        + out()
        + "\nstderr:\n"
        + err();
  }
}
