package io.troupe.ctl.golden;

import com.google.protobuf.ByteString;
import io.troupe.ctl.Ctl;
import io.troupe.ctl.cli.Console;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;

/** Runs a command and returns what it prints. */
interface CommandRunner {
  Duration LIMIT = Duration.ofSeconds(20);

  /**
   * @param exit -1 if the command was stopped
   */
  record Result(ByteString out, String err, int exit) {}

  /**
   * @param stopAfter lines of output after which the command is stopped; -1: it ends by itself
   */
  Result run(List<String> args, ByteString input, int stopAfter) throws Exception;

  private static boolean hasLines(ByteArrayOutputStream out, int count) {
    return out.toString(java.nio.charset.StandardCharsets.ISO_8859_1)
            .chars()
            .filter(c -> c == '\n')
            .count()
        >= count;
  }

  /** ctl inside this JVM. */
  static CommandRunner ctl() {
    return (args, input, stopAfter) -> {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      ByteArrayOutputStream err = new ByteArrayOutputStream();
      Console console =
          new Console(
              new ByteArrayInputStream(input.toByteArray()), out, err, Map.of(), false, false);
      CompletableFuture<Integer> exit = new CompletableFuture<>();
      Thread thread = new Thread(() -> exit.complete(new Ctl(console).run(args)));
      thread.setDaemon(true);
      thread.start();
      if (stopAfter < 0) {
        int code = await(exit, args);
        return new Result(ByteString.copyFrom(out.toByteArray()), err.toString("UTF-8"), code);
      }
      Awaitility.await(String.join(" ", args))
          .atMost(LIMIT)
          .pollInterval(Duration.ofMillis(20))
          .until(() -> hasLines(out, stopAfter));
      return new Result(ByteString.copyFrom(out.toByteArray()), err.toString("UTF-8"), -1);
    };
  }

  private static int await(CompletableFuture<Integer> exit, List<String> args)
      throws InterruptedException, ExecutionException {
    try {
      return exit.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError("does not end: " + args, e);
    }
  }
}
