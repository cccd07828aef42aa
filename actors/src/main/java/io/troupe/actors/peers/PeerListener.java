package io.troupe.actors.peers;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Accepts connections of other members: a TCP port or a unix socket. */
public interface PeerListener extends AutoCloseable {
  /** Waits for a connection; fails once the listener is closed. */
  Socket accept() throws IOException;

  /** Ends a waiting {@link #accept}. */
  @Override
  void close() throws IOException;

  /**
   * Listens on a TCP port.
   *
   * @param backlog connections that may wait to be accepted
   * @throws IOException if it cannot be opened; the message names the address
   */
  static PeerListener tcp(PeerAddress address, int backlog) throws IOException {
    ServerSocket port = new ServerSocket();
    try {
      port.bind(new InetSocketAddress(address.bareHost(), address.port()), backlog);
    } catch (IOException | RuntimeException e) {
      port.close();
      throw new IOException("cannot listen on " + address.text() + ": " + e.getMessage(), e);
    }
    return new PeerListener() {
      @Override
      public Socket accept() throws IOException {
        return port.accept();
      }

      @Override
      public void close() throws IOException {
        port.close();
      }
    };
  }
}
