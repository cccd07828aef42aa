package io.troupe.actors.peers;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Passes bytes on to another port until it is cut; then it takes connections and is silent. Keeps
 * the beginning of what was sent on each connection.
 */
public final class LoopbackProxy implements AutoCloseable {
  private static final int KEPT_BYTES = 256 << 10;

  private final ServerSocket server;
  private final int to;
  private final List<Socket> sockets = new ArrayList<>();
  private final List<ByteArrayOutputStream> recorded = new ArrayList<>();
  private final Set<String> callers = new HashSet<>();
  private boolean cut;

  /** Listens on {@code port} of the loopback; 0 for any. */
  public LoopbackProxy(int port, int to) throws IOException {
    this.to = to;
    server = new ServerSocket(port, 50, InetAddress.getLoopbackAddress());
    start(this::accept);
  }

  private interface Work {
    void run() throws IOException;
  }

  private static void start(Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (IOException closed) {
                // The end of a connection, or of the proxy.
                Thread.currentThread().interrupt();
              }
            });
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() throws IOException {
    while (true) {
      Socket in = server.accept();
      synchronized (this) {
        callers.add(in.getInetAddress().getHostAddress());
      }
      if (keep(in)) {
        connect(in);
      }
    }
  }

  private void connect(Socket in) throws IOException {
    try {
      Socket out = new Socket(InetAddress.getLoopbackAddress(), to);
      keep(out);
      ByteArrayOutputStream record = record();
      start(() -> pass(in, out, record));
      start(() -> pass(out, in, new ByteArrayOutputStream()));
    } catch (ConnectException nobodyThere) {
      in.close();
    }
  }

  private void pass(Socket from, Socket into, ByteArrayOutputStream record) throws IOException {
    byte[] buffer = new byte[64 << 10];
    // When one side closes, also with a reset, the proxy closes the other side: a connection that
    // swallows bytes is what cut() is for.
    try (from;
        into) {
      InputStream in = from.getInputStream();
      OutputStream out = into.getOutputStream();
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        synchronized (this) {
          if (record.size() < KEPT_BYTES) {
            record.write(buffer, 0, count);
          }
        }
        out.write(buffer, 0, count);
      }
    }
  }

  private synchronized ByteArrayOutputStream record() {
    ByteArrayOutputStream made = new ByteArrayOutputStream();
    recorded.add(made);
    return made;
  }

  /** False if nothing is passed on now. */
  private synchronized boolean keep(Socket socket) {
    sockets.add(socket);
    return !cut;
  }

  /** Addresses that connections came from so far. */
  public synchronized Set<String> callers() {
    return Set.copyOf(callers);
  }

  /** Where it listens. */
  public int port() {
    return server.getLocalPort();
  }

  /** What was sent so far, a piece for each connection. */
  public synchronized List<byte[]> recorded() {
    return recorded.stream().map(ByteArrayOutputStream::toByteArray).toList();
  }

  synchronized void cut() throws IOException {
    cut = true;
    closeAll();
  }

  synchronized void mend() throws IOException {
    cut = false;
    closeAll();
  }

  private void closeAll() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
    sockets.clear();
  }

  @Override
  public void close() throws IOException {
    server.close();
    cut();
  }
}
