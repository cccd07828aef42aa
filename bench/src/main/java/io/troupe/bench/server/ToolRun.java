package io.troupe.bench.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * One run of a program that ends by itself.
 *
 * @param seconds from start to exit
 * @param cpuSeconds user and system time, up to the last sample before its exit
 * @param peakRssBytes highest resident memory, up to that sample
 */
public record ToolRun(double seconds, double cpuSeconds, long peakRssBytes) {
  private static final long SAMPLE_MS = 20;

  /**
   * Runs a program and waits for its exit.
   *
   * @param log receives its output
   * @throws IllegalStateException if its exit code is not 0
   */
  public static ToolRun of(List<String> command, Path log) {
    ProcessUsage usage = ProcessUsage.UNKNOWN;
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
      long started = System.nanoTime();
      Process process = OwnProcesses.start(builder);
      try {
        while (!process.waitFor(SAMPLE_MS, TimeUnit.MILLISECONDS)) {
          usage = sample(process, usage);
        }
      } finally {
        // An interrupted wait leaves no process behind.
        process.destroyForcibly();
        OwnProcesses.ended(process);
      }
      double seconds = (System.nanoTime() - started) / 1e9;
      if (process.exitValue() != 0) {
        throw new IllegalStateException(
            String.join(" ", command)
                + " exited with code "
                + process.exitValue()
                + ": "
                + Files.readString(log).trim());
      }
      return new ToolRun(seconds, usage.cpuSeconds(), usage.peakRssBytes());
    } catch (IOException e) {
      throw new UncheckedIOException("start " + command, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted during " + command, e);
    }
  }

  private static ProcessUsage sample(Process process, ProcessUsage last) {
    try {
      ProcessUsage now = ProcessUsage.of(process.pid());
      // Between exit and reaping the process has no memory.
      return now.peakRssBytes() < 0 ? last : now;
    } catch (UncheckedIOException ended) {
      return last;
    }
  }
}
