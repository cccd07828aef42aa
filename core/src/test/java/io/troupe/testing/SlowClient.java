package io.troupe.testing;

import java.io.Closeable;
import java.io.IOException;
import java.net.Socket;

/** A connection that says a byte now and then, for tests of ports. One thread at a time. */
public final class SlowClient implements Closeable {
  private final Socket socket;
  private final byte[] bytes;
  private int said;

  /** Has said nothing yet, and owns the socket. */
  public SlowClient(Socket socket, byte[] bytes) {
    this.socket = socket;
    this.bytes = bytes;
  }

  /** False if there is no other one behind it, or none at all. */
  public boolean sayNext() throws IOException {
    if (said < bytes.length) {
      socket.getOutputStream().write(bytes[said++]);
    }
    return said < bytes.length;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
