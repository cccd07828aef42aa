package io.troupe.ctl.golden;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** Runs commands with another program, whose output is recorded. */
final class ProgramRunner {
  private ProgramRunner() {}

  /** The program at {@code path}, such as the real etcdctl. */
  static CommandRunner of(String path) {
    return (args, input, stopAfter) -> {
      Path in = Files.createTempFile("ctl", ".in");
      Path out = Files.createTempFile("ctl", ".out");
      Path err = Files.createTempFile("ctl", ".err");
      try {
        Files.write(in, input.toByteArray());
        List<String> command = new ArrayList<>(List.of(path));
        command.addAll(args);
        Process process =
            new ProcessBuilder(command)
                .redirectInput(in.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        int exit = end(process, out, stopAfter);
        return new CommandRunner.Result(
            ByteString.copyFrom(Files.readAllBytes(out)), Files.readString(err), exit);
      } finally {
        Files.delete(in);
        Files.delete(out);
        Files.delete(err);
      }
    };
  }

  private static int end(Process process, Path out, int stopAfter)
      throws IOException, InterruptedException {
    if (stopAfter < 0) {
      if (!process.waitFor(CommandRunner.LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
        throw new AssertionError("does not end: " + process.info().commandLine());
      }
      return process.exitValue();
    }
    Awaitility.await()
        .atMost(CommandRunner.LIMIT)
        .pollInterval(Duration.ofMillis(20))
        .until(() -> Files.readString(out).lines().count() >= stopAfter);
    process.destroy();
    process.waitFor();
    return -1;
  }
}
