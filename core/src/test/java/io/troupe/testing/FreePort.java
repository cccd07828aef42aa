package io.troupe.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports of the loopback for tests: below those that systems use for outgoing connections, which
 * could occupy a port before the member that needs it.
 */
public final class FreePort {
  private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

  /** JVMs that run tests at the same time get different ports. */
  private static final int FORKS = 4;

  private static final int FORK = Integer.getInteger("troupe.test.fork", 0) % FORKS;

  private FreePort() {}

  /** A port on which no process listened a moment ago, and that was not returned before. */
  public static int next() {
    for (int tries = 0; tries < 1000; tries++) {
      int port = 12_000 + FORKS * ThreadLocalRandom.current().nextInt(5_000) + FORK;
      if (!GIVEN.add(port)) {
        continue;
      }
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return socket.getLocalPort();
      } catch (BindException taken) {
        // Try the next port.
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    throw new IllegalStateException("no free port");
  }
}
