package io.troupe.bench.server;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The server processes that the generator started. They are stopped when the generator is
 * interrupted (SIGINT, SIGTERM) or fails, because a forgotten server would distort every later
 * measurement. Only SIGKILL leaves them running.
 */
final class OwnProcesses {
  private static final long STOP_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final Set<Process> RUNNING = new HashSet<>();
  private static boolean ending;

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(OwnProcesses::endAll, "end-servers"));
  }

  private OwnProcesses() {}

  /**
   * Starts a process that is stopped with this one.
   *
   * @throws IllegalStateException if this process is being stopped
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

  /** The process has exited. */
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
    long deadline = System.nanoTime() + STOP_TIMEOUT_NANOS;
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
