package io.troupe.testing;

import java.io.Closeable;
import java.io.IOException;
import java.net.Socket;

/** A connection that sends a byte from time to time, for tests of ports. One thread at a time. */
public final class SlowClient implements Closeable {
  private final Socket socket;
  private final byte[] bytes;
  private int sent;

  /** Has sent nothing yet, and owns the socket. */
  public SlowClient(Socket socket, byte[] bytes) {
    this.socket = socket;
    this.bytes = bytes;
  }

  /** Sends the next byte if there is one; returns true if a further byte remains. */
  public boolean sayNext() throws IOException {
    if (sent < bytes.length) {
      socket.getOutputStream().write(bytes[sent++]);
    }
    return sent < bytes.length;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
