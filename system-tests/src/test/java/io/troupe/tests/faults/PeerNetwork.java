package io.troupe.tests.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;

/**
 * The network between members on one machine, a {@link PeerLink} for each direction of each pair.
 *
 * <p>A member has one peer URL, {@code http://m2.troupe.test:PORT}, the same for all peers. The
 * address of the name differs: each process has its own hosts file ({@code jdk.net.hosts.file}), in
 * which {@code m2} is 127.64.1.2 for member 1 and 127.64.3.2 for member 3. The links listen on
 * these addresses.
 */
final class PeerNetwork implements AutoCloseable {
  private record Pair(int from, int to) {}

  private final int size;
  private final List<Integer> ports = new ArrayList<>();
  private final List<Integer> listenPorts;
  private final Map<Pair, PeerLink> ways = new LinkedHashMap<>();

  /**
   * Opens all links.
   *
   * @param listenPorts where the members listen on 127.0.0.1, by number less 1
   */
  PeerNetwork(List<Integer> listenPorts, SplittableRandom random) throws IOException {
    this.size = listenPorts.size();
    this.listenPorts = List.copyOf(listenPorts);
    for (int to = 1; to <= size; to++) {
      ports.add(open(to, random));
    }
  }

  private int open(int to, SplittableRandom random) throws IOException {
    while (true) {
      List<ServerSocket> listeners = new ArrayList<>();
      int port = 0;
      try {
        for (int from = 1; from <= size; from++) {
          ServerSocket listener = PeerLink.listen(address(from, to), port);
          listeners.add(listener);
          port = listener.getLocalPort();
        }
      } catch (BindException taken) {
        for (ServerSocket listener : listeners) {
          listener.close();
        }
        continue;
      }
      InetSocketAddress target =
          new InetSocketAddress(InetAddress.getLoopbackAddress(), listenPorts.get(to - 1));
      for (int from = 1; from <= size; from++) {
        ways.put(new Pair(from, to), new PeerLink(listeners.get(from - 1), target, random.split()));
      }
      return port;
    }
  }

  private static InetAddress address(int from, int to) throws IOException {
    return InetAddress.getByAddress(new byte[] {127, 64, (byte) from, (byte) to});
  }

  /** The peer URL of a member, from 1 on. */
  String url(int member) {
    return "http://" + name(member) + ":" + ports.get(member - 1);
  }

  private static String name(int member) {
    return "m" + member + ".troupe.test";
  }

  /** Writes the hosts file of a member. */
  void writeHosts(int member, Path file) {
    List<String> lines = new ArrayList<>();
    lines.add("127.0.0.1 localhost");
    for (int to = 1; to <= size; to++) {
      lines.add("127.64." + member + "." + to + " " + name(to));
    }
    try {
      lines.add("127.0.0.1 " + InetAddress.getLocalHost().getHostName());
      Files.write(file, lines);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** No message passes from a member of one group to a member of the other. */
  void cut(Set<Integer> from, Set<Integer> to) {
    each(from, to, (pair, way) -> way.cut());
  }

  /**
   * Heals the same link.
   *
   * @param lagMs see {@link PeerLink#heal}
   */
  void heal(Set<Integer> from, Set<Integer> to, long lagMs) {
    each(from, to, (pair, way) -> way.heal(lagMs));
  }

  /** Cuts both directions. */
  void split(Set<Integer> one, Set<Integer> other) {
    cut(one, other);
    cut(other, one);
  }

  /** Ends {@link #split}. */
  void join(Set<Integer> one, Set<Integer> other, long lagMs) {
    heal(one, other, lagMs);
    heal(other, one, lagMs);
  }

  /** Delays each link; 0 ends it. */
  void delay(long ms) {
    ways.values().forEach(way -> way.delay(ms));
  }

  /** Each link loses; 0 ends it. */
  void loss(double share) {
    ways.values().forEach(way -> way.loss(share));
  }

  /** Closes all connections from and to a member. */
  void reset(int member) {
    ways.forEach(
        (pair, way) -> {
          if (pair.from() == member || pair.to() == member) {
            way.reset();
          }
        });
  }

  /** Heals all faults. */
  void healAll() {
    delay(0);
    loss(0);
    ways.values().forEach(way -> way.heal(0));
  }

  private void each(Set<Integer> from, Set<Integer> to, BiConsumer<Pair, PeerLink> action) {
    ways.forEach(
        (pair, way) -> {
          if (pair.from() != pair.to() && from.contains(pair.from()) && to.contains(pair.to())) {
            action.accept(pair, way);
          }
        });
  }

  @Override
  public void close() throws IOException {
    for (PeerLink way : ways.values()) {
      way.close();
    }
  }
}
