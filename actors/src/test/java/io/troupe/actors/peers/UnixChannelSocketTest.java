package io.troupe.actors.peers;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** {@link ChannelSocket} over unix sockets. */
class UnixChannelSocketTest extends ChannelSocketCases {
  UnixChannelSocketTest(@TempDir Path directory) throws IOException {
    super(connect(directory.resolve("a.sock")));
  }

  private static Ends connect(Path file) throws IOException {
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(file));
      ChannelSocket one = ChannelSocket.connect(file);
      return new Ends(one, new ChannelSocket(server.accept()));
    }
  }
}
