package io.troupe.tests.hostile;

import java.io.IOException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** HTTP/1.1 requests to the JSON gateway whose responses the client never reads. */
final class UnreadJson implements Attack {
  /** Most of a response stays in the member. */
  private static final int RECEIVE_BYTES = 16 << 10;

  private final int connections;
  private final String path;
  private final String body;
  private final String headers;

  /**
   * An attack.
   *
   * @param connections with one request each
   * @param headers lines with their ends; empty for none
   */
  UnreadJson(int connections, String path, String body, String headers) {
    this.connections = connections;
    this.path = path;
    this.body = body;
    this.headers = headers;
  }

  /** Sends one request. */
  static RawConnection request(Target target, String path, String body, String headers)
      throws IOException {
    return send(RawConnection.dial(target, 0, "http/1.1"), path, body, headers);
  }

  private static RawConnection send(
      RawConnection connection, String path, String body, String headers) throws IOException {
    byte[] content = body.getBytes(StandardCharsets.UTF_8);
    String head =
        "POST "
            + path
            + " HTTP/1.1\r\nHost: localhost\r\n"
            + headers
            + "Content-Length: "
            + content.length
            + "\r\n\r\n";
    return connection.write(head.getBytes(StandardCharsets.US_ASCII)).write(content);
  }

  @Override
  public Held on(Target target) throws IOException {
    List<RawConnection> held = new ArrayList<>();
    for (int i = 0; i < connections; i++) {
      try {
        held.add(send(RawConnection.dial(target, RECEIVE_BYTES, "http/1.1"), path, body, headers));
      } catch (SocketException closed) {
        // The member accepts no more.
      }
    }
    return () -> held.forEach(RawConnection::close);
  }
}
