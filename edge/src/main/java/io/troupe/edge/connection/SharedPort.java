package io.troupe.edge.connection;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.StandardSocketOptions;
import org.apache.pekko.io.Inet;

/**
 * SO_REUSEPORT: other processes of the same user that set it too may listen on the same port at the
 * same time; the kernel distributes new connections. On a system without this option the port is
 * not opened.
 */
public final class SharedPort extends Inet.AbstractSocketOption {
  @Override
  public void beforeServerSocketBind(ServerSocket socket) {
    try {
      socket.setOption(StandardSocketOptions.SO_REUSEPORT, true);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
