package io.troupe.grpc.http;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.StandardSocketOptions;
import org.apache.pekko.io.Inet;

/**
 * SO_REUSEPORT: others that ask for it too, in other processes of the same user, may listen on the
 * same port at the same time; the kernel shares new connections out. Where there is no such thing
 * the port is not opened.
 */
final class SharedPort extends Inet.AbstractSocketOption {
  @Override
  public void beforeServerSocketBind(ServerSocket socket) {
    try {
      socket.setOption(StandardSocketOptions.SO_REUSEPORT, true);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
