package io.troupe.tests.hostile;

import io.troupe.tests.malformed.Http2Bytes;
import java.io.IOException;
import java.net.SocketException;
import java.util.Optional;

/** An endless header block: HEADERS, then CONTINUATION without END_HEADERS. */
final class HeaderFlood implements Attack {
  private static final int CONTINUATION = 9;
  private static final int FRAMES_AT_ONCE = 64;

  private final int frameBytes;
  private final long mostBytes;
  private long sentBytes;
  private Optional<Integer> goAway = Optional.empty();

  /**
   * An attack.
   *
   * @param frameBytes content of each frame, 0 .. 16384
   * @param mostBytes what is sent if the member takes it
   */
  HeaderFlood(int frameBytes, long mostBytes) {
    this.frameBytes = frameBytes;
    this.mostBytes = mostBytes;
  }

  @Override
  public Held on(Target target) throws IOException {
    byte[] content = new byte[frameBytes];
    byte[] one = Http2Bytes.frame(CONTINUATION, 0, 1, content);
    byte[] many = new byte[FRAMES_AT_ONCE * one.length];
    for (int i = 0; i < FRAMES_AT_ONCE; i++) {
      System.arraycopy(one, 0, many, i * one.length, one.length);
    }
    RawConnection connection;
    try {
      connection = RawConnection.wide(target);
    } catch (SocketException closed) {
      // The member refuses this connection.
      return Held.NOTHING;
    }
    try {
      connection.frame(Http2Bytes.HEADERS, 0, 1, content);
      while (sentBytes < mostBytes) {
        connection.write(many);
        sentBytes += many.length;
      }
    } catch (SocketException closed) {
      // The member accepts no more.
    }
    if (sentBytes < mostBytes) {
      goAway = connection.awaitGoAway();
    }
    return connection;
  }

  /** The bytes that the member accepted, approximately. */
  long sentBytes() {
    return sentBytes;
  }

  /** The error code with which the member closed the connection. */
  Optional<Integer> goAway() {
    return goAway;
  }
}
