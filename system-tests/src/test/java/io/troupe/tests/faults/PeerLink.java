package io.troupe.tests.faults;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The link from one member to another: a TCP proxy that can be stopped, be slow, or break
 * connections. Members open separate connections for sending, so this is one direction of a pair.
 *
 * <p>A stopped link keeps its connections and moves no byte, as if each packet was lost; sent bytes
 * arrive when the link is healed. TCP loses nothing within a connection, so a loss has its effect
 * on the connection: it stops for the time of a retransmission, or it closes and everything in it
 * is lost.
 */
final class PeerLink implements AutoCloseable {
  private static final int CHUNK = 64 << 10;
  private static final int RETRANSMISSION_MS = 200;

  private final ServerSocket listener;
  private final InetSocketAddress target;
  private final SplittableRandom random;
  private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
  private boolean cut;
  private long delayMs;
  private double loss;
  private boolean closed;

  /**
   * Opens the link.
   *
   * @param listener bound already; closed with this
   * @param target where the receiver listens
   */
  PeerLink(ServerSocket listener, InetSocketAddress target, SplittableRandom random) {
    this.listener = listener;
    this.target = target;
    this.random = random;
    daemon(this::accept, "way to " + target);
  }

  /** No byte passes from now on. */
  synchronized void cut() {
    cut = true;
  }

  /**
   * Bytes pass again.
   *
   * @param lagMs for this long connections that there are are stopped all the same: TCP tries again
   *     in longer and longer intervals
   */
  synchronized void heal(long lagMs) {
    if (cut) {
      cut = false;
      long open = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(lagMs);
      connections.forEach(connection -> connection.openAt = open);
      notifyAll();
    }
  }

  /** Delays each piece by this time; 0 ends it. */
  synchronized void delay(long ms) {
    delayMs = ms;
  }

  /** Delays this share of the pieces as a retransmission does; 0 ends it. */
  synchronized void loss(double share) {
    loss = share;
  }

  /** Closes all connections; their content is lost. */
  void reset() {
    connections.forEach(Connection::close);
  }

  private void accept() {
    while (true) {
      Socket from;
      try {
        from = listener.accept();
      } catch (IOException e) {
        if (listener.isClosed()) {
          return;
        }
        throw new IllegalStateException("way to " + target, e);
      }
      Connection connection = new Connection(from);
      connections.add(connection);
      daemon(connection::open, "peer connection");
    }
  }

  static void daemon(Runnable run, String name) {
    Thread thread = new Thread(run, name);
    thread.setDaemon(true);
    thread.start();
  }

  /** Waits until a piece may pass. */
  private synchronized void pass(Connection connection) throws InterruptedException {
    long ready = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMs);
    if (loss > 0 && random.nextDouble() < loss) {
      ready += TimeUnit.MILLISECONDS.toNanos(RETRANSMISSION_MS + random.nextInt(400));
    }
    while (!closed && !connection.closed) {
      long left = Math.max(ready, connection.openAt) - System.nanoTime();
      if (cut) {
        wait();
      } else if (left > 0) {
        wait(left / 1_000_000 + 1);
      } else {
        return;
      }
    }
  }

  @Override
  public void close() throws IOException {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    listener.close();
    reset();
  }

  private final class Connection {
    private final Socket from;
    private final Socket to = new Socket();
    private volatile long openAt = System.nanoTime();
    private volatile boolean closed;

    Connection(Socket from) {
      this.from = from;
    }

    void open() {
      try {
        pass(this);
        from.setTcpNoDelay(true);
        to.setTcpNoDelay(true);
        to.connect(target, 2000);
        daemon(() -> pump(to, from), "peer connection, back");
        pump(from, to);
      } catch (IOException e) {
        // No process listens: the sender sees a closed connection.
        close();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        close();
      }
    }

    private void pump(Socket source, Socket sink) {
      byte[] chunk = new byte[CHUNK];
      try {
        for (int n = source.getInputStream().read(chunk);
            n >= 0;
            n = source.getInputStream().read(chunk)) {
          pass(this);
          sink.getOutputStream().write(chunk, 0, n);
        }
        // The end of the stream passes the link like its bytes.
        pass(this);
      } catch (IOException e) {
        // One side closed: the other one must notice it.
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      close();
    }

    void close() {
      connections.remove(this);
      closed = true;
      synchronized (PeerLink.this) {
        PeerLink.this.notifyAll();
      }
      closeQuietly(from);
      closeQuietly(to);
    }
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // The socket is not used any more, closed or not.
    }
  }

  /** A listener on an address of the loopback. */
  static ServerSocket listen(InetAddress address, int port) throws IOException {
    ServerSocket socket = new ServerSocket();
    socket.setReuseAddress(true);
    socket.bind(new InetSocketAddress(address, port), 200);
    return socket;
  }
}
