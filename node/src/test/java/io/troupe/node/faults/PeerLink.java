package io.troupe.node.faults;

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
 * The way from one member to another: a TCP proxy that can are stopped, be slow, or break
 * connections. Members open a connection of their own for what they send, so this is one direction
 * of a pair.
 *
 * <p>A way that is cut keeps its connections and moves no byte, as if each packet was swallowed;
 * what was sent arrives when it is whole again. TCP loses nothing within a connection, so loss is
 * shown as what it does to a connection: it is stopped for the time of a retransmission, or it ends
 * and everything in it is lost.
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
   * Opens the way.
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

  /** Nothing passes from now on. */
  synchronized void cut() {
    cut = true;
  }

  /**
   * Things pass again.
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

  /** Every piece takes this long; 0 ends it. */
  synchronized void delay(long ms) {
    delayMs = ms;
  }

  /** This share of the pieces is lost at first and comes again later; 0 ends it. */
  synchronized void loss(double share) {
    loss = share;
  }

  /** Ends all connections; what is in them is lost. */
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
        // Nobody is there: the sender sees its connection end.
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
        // An end takes the same way.
        pass(this);
      } catch (IOException e) {
        // One side ended: the other one shall see it.
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
      // It is of no use any more, closed or not.
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
