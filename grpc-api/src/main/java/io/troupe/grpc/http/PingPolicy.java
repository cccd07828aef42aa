package io.troupe.grpc.http;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;

/**
 * Watches the HTTP/2 frames of one connection for clients that ping too often (T4): a ping within 5
 * s of the last one, or within 2 h while no stream is open, is a strike; the third strike ends the
 * connection. Anything that the server sends for a stream clears the strikes. Looks at frame
 * headers alone. One thread.
 */
final class PingPolicy {
  private static final byte[] PREFACE =
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] DEBUG_DATA = "too_many_pings".getBytes(StandardCharsets.US_ASCII);
  private static final long MIN_INTERVAL_NANOS = 5_000_000_000L;
  private static final long MIN_IDLE_INTERVAL_NANOS = 2 * 3600 * 1_000_000_000L;
  private static final int MAX_STRIKES = 2;

  private static final int DATA = 0;
  private static final int HEADERS = 1;
  private static final int RST_STREAM = 3;
  private static final int PING = 6;
  private static final int GOAWAY = 7;
  private static final int END_STREAM = 1;
  private static final int ACK = 1;
  private static final int ENHANCE_YOUR_CALM = 0xb;

  private final FrameHeaders fromClient = new FrameHeaders();
  private final FrameHeaders fromServer = new FrameHeaders();
  private final Set<Integer> open = new HashSet<>();
  private int prefaceSeen;
  private boolean http2 = true;
  private int lastStream;
  private long lastPingNanos;
  private boolean pinged;
  private int strikes;

  /**
   * Bytes came from the client.
   *
   * @return false when the connection is to be ended with {@link #goAway}
   */
  boolean received(ByteBuffer bytes, long nowNanos) {
    while (http2 && prefaceSeen < PREFACE.length && bytes.hasRemaining()) {
      // Not HTTP/2: nothing here is of any interest.
      http2 = bytes.get() == PREFACE[prefaceSeen++];
    }
    while (http2 && fromClient.next(bytes)) {
      int stream = fromClient.stream();
      if (fromClient.type() == HEADERS && stream > lastStream) {
        lastStream = stream;
        open.add(stream);
      } else if (fromClient.type() == RST_STREAM) {
        open.remove(stream);
      } else if (fromClient.type() == PING && (fromClient.flags() & ACK) == 0) {
        ping(nowNanos);
      }
    }
    return strikes <= MAX_STRIKES;
  }

  private void ping(long nowNanos) {
    long least = open.isEmpty() ? MIN_IDLE_INTERVAL_NANOS : MIN_INTERVAL_NANOS;
    if (pinged && nowNanos - lastPingNanos < least) {
      strikes++;
    }
    pinged = true;
    lastPingNanos = nowNanos;
  }

  /** Bytes go to the client. */
  void sent(ByteBuffer bytes) {
    while (http2 && fromServer.next(bytes)) {
      int type = fromServer.type();
      if (type == HEADERS || type == DATA) {
        strikes = 0;
        // The next ping is judged against nothing older than this answer.
        pinged = false;
        if ((fromServer.flags() & END_STREAM) != 0) {
          open.remove(fromServer.stream());
        }
      } else if (type == RST_STREAM) {
        open.remove(fromServer.stream());
      }
    }
  }

  /** The frame that tells the client why. */
  byte[] goAway() {
    ByteBuffer frame = ByteBuffer.allocate(9 + 8 + DEBUG_DATA.length);
    frame.put((byte) 0).putShort((short) (8 + DEBUG_DATA.length));
    frame.put((byte) GOAWAY).put((byte) 0).putInt(0);
    frame.putInt(lastStream).putInt(ENHANCE_YOUR_CALM).put(DEBUG_DATA);
    return frame.array();
  }

  /** Finds frame headers in a byte stream that is cut anywhere. */
  private static final class FrameHeaders {
    private final byte[] header = new byte[9];
    private int have;
    private int skip;

    /** Reads up to the next whole header; false when the bytes end before. */
    boolean next(ByteBuffer bytes) {
      int skipped = Math.min(skip, bytes.remaining());
      bytes.position(bytes.position() + skipped);
      skip -= skipped;
      if (skip > 0) {
        return false;
      }
      int taken = Math.min(header.length - have, bytes.remaining());
      bytes.get(header, have, taken);
      have += taken;
      if (have < header.length) {
        return false;
      }
      have = 0;
      skip = ((header[0] & 0xff) << 16) | ((header[1] & 0xff) << 8) | (header[2] & 0xff);
      return true;
    }

    int type() {
      return header[3];
    }

    int flags() {
      return header[4];
    }

    int stream() {
      return ((header[5] & 0x7f) << 24)
          | ((header[6] & 0xff) << 16)
          | ((header[7] & 0xff) << 8)
          | (header[8] & 0xff);
    }
  }
}
