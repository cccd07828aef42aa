package io.troupe.bench.server;

import com.google.protobuf.ByteString;
import io.troupe.bench.client.Connections;
import io.troupe.bench.client.Endpoint;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.EventLoops;
import io.troupe.grpc.api.RangeRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** One member that the generator started. */
final class ServerProcess implements AutoCloseable {
  private static final long START_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long STOP_TIMEOUT_SECONDS = 60;

  private final Process process;
  private final Endpoint endpoint;
  private final Path directory;
  private final long startedNanos;

  private ServerProcess(Process process, Endpoint endpoint, Path directory, long startedNanos) {
    this.process = process;
    this.endpoint = endpoint;
    this.directory = directory;
    this.startedNanos = startedNanos;
  }

  /**
   * Starts a member and returns immediately.
   *
   * @param directory of the member, with its log; removed when the server is closed
   * @param line the whole command line
   * @param client its client endpoint
   */
  static ServerProcess start(
      ServerCommand command, Path directory, List<String> line, Endpoint client) {
    try {
      ProcessBuilder builder =
          new ProcessBuilder(line)
              .redirectErrorStream(true)
              .redirectOutput(directory.resolve("log").toFile());
      builder.environment().putAll(command.environment());
      long started = System.nanoTime();
      return new ServerProcess(OwnProcesses.start(builder), client, directory, started);
    } catch (IOException e) {
      throw new UncheckedIOException("start " + command.program(), e);
    }
  }

  /** Its client endpoint. */
  Endpoint endpoint() {
    return endpoint;
  }

  /** Its process ID. */
  long pid() {
    return process.pid();
  }

  /** The resources that it has used. */
  ProcessUsage usage() {
    return ProcessUsage.of(pid());
  }

  /**
   * Waits until it responds to a linearizable read.
   *
   * @throws IllegalStateException if it exits, or takes longer than a minute
   */
  void awaitReady(EventLoops loops) {
    byte[] read =
        RangeRequest.newBuilder().setKey(ByteString.copyFromUtf8("ready")).build().toByteArray();
    while (!accepts()) {
      checkStarting();
      LockSupport.parkNanos(POLL_NANOS);
    }
    while (true) {
      // A new connection for each attempt: a failed connection would wait before it reconnects.
      try (Connections connection = new Connections(loops, List.of(endpoint), 1)) {
        connection.call(EtcdMethod.RANGE, read, 5000);
        return;
      } catch (IllegalStateException notYet) {
        checkStarting();
        LockSupport.parkNanos(POLL_NANOS);
      }
    }
  }

  private void checkStarting() {
    if (!process.isAlive()) {
      throw new IllegalStateException(
          "server exited with code " + process.exitValue() + "; see " + keepLog());
    }
    if (System.nanoTime() - startedNanos > START_TIMEOUT_NANOS) {
      throw new IllegalStateException("server does not respond; see " + keepLog());
    }
  }

  private Path keepLog() {
    Path parent = directory.getParent();
    Path kept = (parent == null ? directory : parent).resolve(directory.getFileName() + ".log");
    try {
      Files.copy(directory.resolve("log"), kept);
      return kept;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private boolean accepts() {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(endpoint.host(), endpoint.port()), 1000);
      return true;
    } catch (IOException refused) {
      return false;
    }
  }

  /** Sends it SIGTERM. */
  void end() {
    process.destroy();
  }

  /** Sends it SIGTERM, waits for its exit, and deletes its directory. */
  @Override
  public void close() {
    end();
    try {
      if (!process.waitFor(STOP_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
      OwnProcesses.ended(process);
      deleteTree(directory);
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  private static void deleteTree(Path root) {
    try (Stream<Path> paths = Files.walk(root)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
