package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import org.junit.jupiter.api.Test;

/** {@link ChannelSocket} over TCP. */
class TcpChannelSocketTest extends ChannelSocketCases {
  private static final String LOCAL = "127.0.0.2";

  TcpChannelSocketTest() throws IOException {
    super(connect());
  }

  private static Ends connect() throws IOException {
    try (ServerSocketChannel server = ServerSocketChannel.open()) {
      // So that a side that reads nothing is noticed soon.
      server.setOption(StandardSocketOptions.SO_RCVBUF, 8 << 10);
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      ChannelSocket one =
          ChannelSocket.connect(LOCAL, (InetSocketAddress) server.getLocalAddress(), 5000);
      return new Ends(one, new ChannelSocket(server.accept()));
    }
  }

  @Test
  void connectionComesFromTheGivenAddress() throws IOException {
    assertThat(two.getInetAddress()).isEqualTo(InetAddress.getByName(LOCAL));
  }

  @Test
  void portWithoutListenerIsRefused() {
    InetSocketAddress closed = new InetSocketAddress(LOCAL, one.getPort());
    assertThatThrownBy(() -> ChannelSocket.connect(null, closed, 5000))
        .isInstanceOf(ConnectException.class);
  }
}
