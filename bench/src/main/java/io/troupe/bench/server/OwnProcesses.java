package io.troupe.bench.server;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The servers that run because the generator started them. When it is interrupted (SIGINT, SIGTERM)
 * or fails, they end with it: a server that nobody knows of would spoil every later measurement.
 * Only SIGKILL leaves them behind.
 */
final class OwnProcesses {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final Set<Process> RUNNING = new HashSet<>();
  private static boolean ending;

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(OwnProcesses::endAll, "end-servers"));
  }

  private OwnProcesses() {}

  /**
   * Starts a process that ends with this one.
   *
   * @throws IllegalStateException if this one is ending already
   */
  static Process start(ProcessBuilder builder) throws IOException {
    synchronized (RUNNING) {
      if (ending) {
        throw new IllegalStateException("interrupted");
      }
      Process process = builder.start();
      RUNNING.add(process);
      return process;
    }
  }

  /** It has ended. */
  static void ended(Process process) {
    synchronized (RUNNING) {
      RUNNING.remove(process);
    }
  }

  private static void endAll() {
    List<Process> left;
    synchronized (RUNNING) {
      ending = true;
      left = List.copyOf(RUNNING);
    }
    left.forEach(Process::destroy);
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    for (Process process : left) {
      try {
        if (!process.waitFor(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
          process.destroyForcibly();
        }
      } catch (InterruptedException e) {
        process.destroyForcibly();
        Thread.currentThread().interrupt();
      }
    }
  }
}
