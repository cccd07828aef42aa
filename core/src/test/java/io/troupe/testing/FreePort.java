package io.troupe.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports of the loopback for tests: below those that systems use for outgoing connections, which
 * could occupy a port before the member that needs it. A port belongs to the JVM that it was
 * returned to until that JVM ends, also while no process listens on it, because tests stop and
 * restart members. Other JVMs learn this from a lock of the byte with the port's number in one file
 * in the directory for temporary files.
 */
public final class FreePort {
  private static final int FIRST = 12_000;
  private static final int END = 32_000;
  private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();
  private static final FileChannel LOCKS = openLocks();

  private FreePort() {}

  /** A port on which no process listens and that no other test has. */
  public static int next() {
    for (int tries = 0; tries < 1000; tries++) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, END);
      if (reserve(port) && isUnused(port)) {
        return port;
      }
    }
    throw new IllegalStateException("no free port");
  }

  /** Whether the port belongs to this JVM now, and did not before. */
  static boolean reserve(int port) {
    if (!GIVEN.add(port)) {
      return false;
    }
    try {
      FileLock lock = LOCKS.tryLock(port, 1, false);
      return lock != null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isUnused(int port) {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return socket.isBound();
    } catch (BindException taken) {
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static FileChannel openLocks() {
    // Each user has a file, because one cannot open that of another.
    Path file =
        Path.of(
            System.getProperty("java.io.tmpdir"),
            "troupe-test-ports-" + System.getProperty("user.name"));
    try {
      return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
