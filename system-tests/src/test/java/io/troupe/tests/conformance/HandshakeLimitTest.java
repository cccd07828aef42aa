package io.troupe.tests.conformance;

import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Unfinished TLS handshakes on a port that allows few connections. */
class HandshakeLimitTest {
  private static final int CONNECTIONS = 8;

  /** Connections without a call are closed after 5 s; the client timeout is shorter. */
  @Test
  void unfinishedHandshakesLeaveConnectionsForOtherClients_TL4(@TempDir Path directory)
      throws Exception {
    List<Socket> silent = new ArrayList<>();
    try (SecureMember member =
        new SecureMember(directory).with("max-connections-per-address", CONNECTIONS).start()) {
      for (int i = 0; i < 2 * CONNECTIONS; i++) {
        silent.add(new Socket(InetAddress.getLoopbackAddress(), member.port()));
      }
      member.awaitLine(
          "rejected connection on client endpoint",
          "remote-addr=127.0.0.1:" + silent.get(0).getLocalPort(),
          "more than " + CONNECTIONS / 2 + " handshakes at a time");
      try (ApiClient client = member.client(null)) {
        client.put("others", "are served");
      }
    } finally {
      for (Socket socket : silent) {
        socket.close();
      }
    }
  }
}
