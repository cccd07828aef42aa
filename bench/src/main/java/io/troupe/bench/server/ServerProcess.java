package io.troupe.bench.server;

import com.google.protobuf.ByteString;
import io.troupe.bench.client.Connections;
import io.troupe.bench.client.Endpoint;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.EventLoops;
import io.troupe.grpc.api.RangeRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** One member that the generator started. */
final class ServerProcess implements AutoCloseable {
  private static final long START_TIMEOUT_NANOS = TimeUnit.MINUTES.toNanos(10);
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long READ_TIMEOUT_MS = 5000;
  private static final long STOP_TIMEOUT_SECONDS = 60;

  private final ServerCommand command;
  private final List<String> line;
  private final Endpoint endpoint;
  private final Path directory;
  private volatile Process process;
  private volatile long startedNanos;

  private ServerProcess(
      ServerCommand command, Path directory, List<String> line, Endpoint endpoint) {
    this.command = command;
    this.line = List.copyOf(line);
    this.endpoint = endpoint;
    this.directory = directory;
    this.startedNanos = System.nanoTime();
    this.process = launch(command, this.line, directory);
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
    return new ServerProcess(command, directory, line, client);
  }

  private static Process launch(ServerCommand command, List<String> line, Path directory) {
    try {
      ProcessBuilder builder =
          new ProcessBuilder(line)
              .redirectErrorStream(true)
              .redirectOutput(Redirect.appendTo(directory.resolve("log").toFile()));
      builder.environment().putAll(command.environment());
      return OwnProcesses.start(builder);
    } catch (IOException e) {
      throw new UncheckedIOException("start " + command.program(), e);
    }
  }

  /** Starts it again with its data, after {@link #stop}. */
  void startAgain() {
    startedNanos = System.nanoTime();
    process = launch(command, line, directory);
  }

  /**
   * Stops it and waits for its exit.
   *
   * @param kill SIGKILL instead of SIGTERM
   * @throws IllegalStateException if it does not exit within a minute
   */
  void stop(boolean kill) {
    if (kill) {
      process.destroyForcibly();
    } else {
      process.destroy();
    }
    try {
      if (!process.waitFor(STOP_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("server does not stop; see " + keepLog());
      }
      OwnProcesses.ended(process);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while a server stopped", e);
    }
  }

  /** Bytes of its data on the disk. */
  long diskBytes() {
    return DataDirectory.bytes(directory.resolve("data"));
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
   * @throws IllegalStateException if it exits, or takes longer than ten minutes
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
        connection.call(EtcdMethod.RANGE, read, READ_TIMEOUT_MS);
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
      DataDirectory.delete(directory);
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
