package io.troupe.bench.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An interrupted generator leaves no process behind. */
class InterruptedRunTest {
  @TempDir Path directory = Path.of("");

  /** A generator that waits for a server which never responds. */
  public static final class Generator {
    private Generator() {}

    /** Expects the server's program and the working directory. */
    public static void main(String[] args) throws InterruptedException {
      Servers server = Servers.start(ServerCommand.etcd(args[0]), Path.of(args[1]), 1, false);
      System.out.println(server.pid());
      System.out.flush();
      Thread.currentThread().join();
    }
  }

  @ParameterizedTest
  @CsvSource({"-INT,130,sleep 600", "-TERM,143,sleep 600", "-TERM,143,trap '' TERM; sleep 600"})
  void leavesNoServerBehind(String signal, int exit, String behaviour) throws Exception {
    Path program = directory.resolve("server");
    // exec: the signal must reach this program, not a shell in front of it
    Files.writeString(
        program,
        "#!/usr/bin/env bash\n" + (behaviour.startsWith("trap") ? "" : "exec ") + behaviour + "\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    Process generator =
        new ProcessBuilder(
                // A background process of a shell ignores Ctrl-C, and so would the generator.
                "env",
                "--default-signal=INT",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-cp",
                System.getProperty("java.class.path"),
                Generator.class.getName(),
                program.toString(),
                directory.resolve("work").toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    ProcessHandle server = startedBy(generator);
    try {
      assertThat(server.isAlive()).isTrue();
      Process kill =
          new ProcessBuilder("kill", signal, Long.toString(generator.pid())).inheritIO().start();
      assertThat(kill.waitFor()).isZero();
      assertThat(generator.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(generator.exitValue()).isEqualTo(exit);
      server.onExit().get(10, TimeUnit.SECONDS);
      assertThat(server.isAlive()).isFalse();
    } finally {
      server.destroyForcibly();
      generator.destroyForcibly();
    }
  }

  private static ProcessHandle startedBy(Process generator) throws IOException {
    try (BufferedReader out = generator.inputReader(StandardCharsets.UTF_8)) {
      String pid = Objects.requireNonNull(out.readLine(), "the generator said nothing");
      return ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
    }
  }
}
