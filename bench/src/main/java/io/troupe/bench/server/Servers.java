package io.troupe.bench.server;

import io.troupe.bench.client.Endpoint;
import io.troupe.bench.client.EventLoops;
import io.troupe.bench.server.ServerCommand.Addresses;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A server that the generator started: all members of a cluster, one or more, with fresh data and
 * on free ports of this machine.
 */
public final class Servers implements AutoCloseable {
  private final List<ServerProcess> members = new ArrayList<>();

  private long startedNanos = System.nanoTime();

  private Servers() {}

  /**
   * Starts all members and returns immediately.
   *
   * @param parent parent of their directories, which are deleted when the servers are closed
   * @param count members, 1 or more
   * @param tls whether they use TLS for clients, with self-signed certificates
   */
  public static Servers start(ServerCommand command, Path parent, int count, boolean tls) {
    Servers servers = new Servers();
    try {
      Files.createDirectories(parent);
      List<Addresses> addresses = addresses(count, tls);
      for (int i = 0; i < count; i++) {
        Path directory = Files.createTempDirectory(parent, command.name().replaceAll("\\W+", "-"));
        List<String> line = command.commandLine(directory.resolve("data"), addresses, i);
        servers.members.add(
            ServerProcess.start(command, directory, line, addresses.get(i).client()));
      }
      return servers;
    } catch (IOException e) {
      servers.close();
      throw new UncheckedIOException("start " + command.program(), e);
    }
  }

  /** All sockets stay open until every port is known, so that no two ports are the same. */
  private static List<Addresses> addresses(int count, boolean tls) throws IOException {
    List<ServerSocket> open = new ArrayList<>();
    try {
      List<Addresses> found = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        found.add(new Addresses(free(open, tls), free(open, false)));
      }
      return found;
    } finally {
      for (ServerSocket socket : open) {
        socket.close();
      }
    }
  }

  private static Endpoint free(List<ServerSocket> open, boolean tls) throws IOException {
    ServerSocket socket = new ServerSocket(0);
    open.add(socket);
    return new Endpoint("127.0.0.1", socket.getLocalPort(), tls, "");
  }

  /** The client endpoints of the members, in the order of their names. */
  public List<Endpoint> endpoints() {
    return members.stream().map(ServerProcess::endpoint).toList();
  }

  /** The process of the first member. */
  public long pid() {
    return members.get(0).pid();
  }

  /** The resources that all members together have used. */
  public ProcessUsage usage() {
    double cpuSeconds = 0;
    long rss = 0;
    long peak = 0;
    for (ServerProcess member : members) {
      ProcessUsage usage = member.usage();
      cpuSeconds += usage.cpuSeconds();
      rss += usage.rssBytes();
      peak += usage.peakRssBytes();
    }
    return new ProcessUsage(cpuSeconds, rss, peak);
  }

  /**
   * Waits until every member responds to a linearizable read.
   *
   * @return nanoseconds from the first member's start to the last one's response
   * @throws IllegalStateException if a member exits, or takes longer than ten minutes
   */
  public long awaitReady(EventLoops loops) {
    for (ServerProcess member : members) {
      member.awaitReady(loops);
    }
    return System.nanoTime() - startedNanos;
  }

  /**
   * Makes one member the leader.
   *
   * @param number of the member, from 1 in the order of the endpoints
   * @throws IllegalStateException if it does not become the leader
   */
  public void leadWith(int number, EventLoops loops) {
    new LeaderPlacement(loops, endpoints()).await(number - 1);
  }

  /**
   * Stops all members and starts them with their data.
   *
   * @param kill SIGKILL instead of SIGTERM
   * @return nanoseconds from the first member's start to the last one's response to a linearizable
   *     read
   */
  public long restart(EventLoops loops, boolean kill) {
    if (!kill) {
      members.forEach(ServerProcess::end);
    }
    members.forEach(member -> member.stop(kill));
    startedNanos = System.nanoTime();
    members.forEach(ServerProcess::startAgain);
    return awaitReady(loops);
  }

  /** Bytes of the data of all members on the disk. */
  public long diskBytes() {
    return members.stream().mapToLong(ServerProcess::diskBytes).sum();
  }

  /** Stops all members, waits for their exit, and deletes their directories. */
  @Override
  public void close() {
    members.forEach(ServerProcess::end);
    members.forEach(ServerProcess::close);
  }
}
