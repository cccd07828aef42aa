package io.troupe.tests.hostile;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** HTTP/1.1 requests with many large headers whose bodies never arrive. */
final class HeldHeads implements Attack {
  /** HTTP messages of most servers may have 64 fields. */
  private static final int FIELDS = 57;

  private final int connections;
  private final byte[] request;

  /**
   * An attack.
   *
   * @param headBytes of all headers of a request, about
   */
  HeldHeads(int connections, int headBytes) {
    this.connections = connections;
    StringBuilder head = new StringBuilder("POST /v3/kv/put HTTP/1.1\r\nHost: localhost\r\n");
    head.append("Content-Length: 1000000\r\n");
    for (int i = 0; i < FIELDS; i++) {
      head.append("x-")
          .append(i)
          .append(": ")
          .append("v".repeat(headBytes / FIELDS))
          .append("\r\n");
    }
    request = head.append("\r\n{").toString().getBytes(StandardCharsets.US_ASCII);
  }

  @Override
  public Held on(Target target) throws IOException {
    List<RawConnection> held = new ArrayList<>();
    for (int i = 0; i < connections; i++) {
      try {
        RawConnection connection = RawConnection.dial(target, 0, "http/1.1");
        held.add(connection);
        connection.write(request);
      } catch (IOException refused) {
        // The member accepts no more.
      }
    }
    return () -> held.forEach(RawConnection::close);
  }
}
