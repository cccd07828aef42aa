package io.troupe.tests.hostile;

import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SSLEngine;

/** Connections whose TLS handshake begins and never ends. */
final class UnfinishedHandshakes implements Attack {
  private final int connections;
  private final int bytes;

  /**
   * An attack.
   *
   * @param bytes of the ClientHello that each connection sends; all of it if it has fewer
   */
  UnfinishedHandshakes(int connections, int bytes) {
    this.connections = connections;
    this.bytes = bytes;
  }

  @Override
  public Held on(Target target) throws IOException {
    List<Socket> held = new ArrayList<>();
    byte[] sent = hello(target);
    for (int i = 0; i < connections; i++) {
      Socket socket = target.dial(0);
      held.add(socket);
      try {
        socket.getOutputStream().write(sent);
      } catch (IOException refused) {
        // The member accepts no more.
      }
    }
    return () -> held.forEach(UnfinishedHandshakes::close);
  }

  private byte[] hello(Target target) throws IOException {
    SSLEngine engine = target.engine();
    ByteBuffer record = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
    engine.wrap(ByteBuffer.allocate(0), record);
    return Arrays.copyOf(record.array(), Math.min(bytes, record.position()));
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new IllegalStateException("a socket does not close", e);
    }
  }
}
