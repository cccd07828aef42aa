package io.troupe.tests.hostile;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;

/** Requests over connections whose client never reads and never enlarges a window. */
final class UnreadResponses implements Attack {
  private static final int AT_ONCE = 100;

  private final int connections;
  private final int requests;
  private final String path;
  private final byte[] message;

  /**
   * An attack.
   *
   * @param requests on each connection
   * @param message of each request
   */
  UnreadResponses(int connections, int requests, String path, byte[] message) {
    this.connections = connections;
    this.requests = requests;
    this.path = path;
    this.message = message;
  }

  @Override
  public Held on(Target target) throws IOException {
    List<RawConnection> held = new ArrayList<>();
    for (int i = 0; i < connections; i++) {
      try {
        RawConnection connection = RawConnection.narrow(target);
        held.add(connection);
        for (int sent = 0; sent < requests; sent += AT_ONCE) {
          ByteArrayOutputStream out = new ByteArrayOutputStream();
          for (int j = 0; j < Math.min(AT_ONCE, requests - sent); j++) {
            out.writeBytes(RawConnection.request(connection.nextStream(), path, message));
          }
          connection.write(out.toByteArray());
        }
      } catch (SocketException closed) {
        // The member accepts no more.
      }
    }
    return () -> held.forEach(RawConnection::close);
  }
}
