package io.troupe.tests.hostile;

import io.troupe.tests.malformed.Http2Bytes;
import java.io.IOException;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Requests whose last byte never arrives. */
final class IncompleteUploads implements Attack {
  private static final int FRAME = 16_384;
  private static final int FIRST_WINDOW = 65_535;

  private final int connections;
  private final int uploads;
  private final String path;
  private final byte[] message;

  /**
   * An attack.
   *
   * @param uploads on each connection
   * @param message that each upload withholds the last byte of
   */
  IncompleteUploads(int connections, int uploads, String path, byte[] message) {
    this.connections = connections;
    this.uploads = uploads;
    this.path = path;
    this.message = message;
  }

  @Override
  public Held on(Target target) throws IOException {
    List<RawConnection> held = new ArrayList<>();
    byte[] framed = Http2Bytes.framed(0, message.length, message);
    byte[] sent = Arrays.copyOf(framed, framed.length - 1);
    for (int i = 0; i < connections; i++) {
      try {
        RawConnection connection = RawConnection.wide(target);
        held.add(connection);
        upload(connection, sent);
      } catch (SocketException closed) {
        // The member accepts no more.
      }
    }
    return () -> held.forEach(RawConnection::close);
  }

  /** In sequence, each as fast as the member's windows allow. */
  private void upload(RawConnection connection, byte[] content) throws IOException {
    long window = FIRST_WINDOW;
    for (int i = 0; i < uploads; i++) {
      int stream = connection.nextStream();
      connection.write(RawConnection.begin(stream, path));
      long streamWindow = FIRST_WINDOW;
      int at = 0;
      while (at < content.length) {
        int now =
            (int) Math.min(Math.min(FRAME, content.length - at), Math.min(window, streamWindow));
        if (now > 0) {
          byte[] part = Arrays.copyOfRange(content, at, at + now);
          connection.frame(Http2Bytes.DATA, 0, stream, part);
          at += now;
          window -= now;
          streamWindow -= now;
        }
        while (now <= 0 || connection.hasMore()) {
          RawConnection.Frame frame = connection.read().orElse(null);
          if (frame == null) {
            return;
          }
          if (frame.endsStream() && frame.stream() == stream) {
            // Refused: the member would drop the bytes.
            at = content.length;
            break;
          }
          if (frame.type() == Http2Bytes.WINDOW_UPDATE) {
            int more = frame.payload().getInt();
            if (frame.stream() == 0) {
              window += more;
              now = 1;
            } else if (frame.stream() == stream) {
              streamWindow += more;
              now = 1;
            }
          }
        }
      }
    }
  }
}
