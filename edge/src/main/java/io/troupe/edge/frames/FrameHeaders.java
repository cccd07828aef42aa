package io.troupe.edge.frames;

import java.nio.ByteBuffer;

/**
 * Finds the headers of HTTP/2 frames in a byte stream that is split at any position. Of the
 * payloads it reads only the numbers of WINDOW_UPDATE and GOAWAY. Used by one thread.
 *
 * @source RFC 9113 sections 4.1, 6.8, 6.9
 */
final class FrameHeaders {
  private static final int HEADER = 9;
  private static final int GOAWAY = 7;
  private static final int WINDOW_UPDATE = 8;

  /** Payload bytes of a WINDOW_UPDATE. */
  private static final int INCREMENT = 4;

  /** Payload bytes of a GOAWAY: the last stream and the error code. */
  private static final int REASON = 8;

  private final byte[] header = new byte[HEADER + REASON];
  private int have;
  private int skip;

  /** Reads up to the next complete header; false if the bytes end before it. */
  boolean next(ByteBuffer bytes) {
    int skipped = Math.min(skip, bytes.remaining());
    bytes.position(bytes.position() + skipped);
    skip -= skipped;
    if (skip > 0) {
      return false;
    }
    take(bytes, HEADER);
    if (have < HEADER) {
      return false;
    }
    int more = hasIncrement() ? INCREMENT : hasReason() ? REASON : 0;
    take(bytes, HEADER + more);
    if (have < HEADER + more) {
      return false;
    }
    have = 0;
    skip = length() - more;
    return true;
  }

  /** Whether the bytes so far end inside a frame. */
  boolean isInsideFrame() {
    return have > 0 || skip > 0;
  }

  private void take(ByteBuffer bytes, int upTo) {
    int taken = Math.min(Math.max(upTo - have, 0), bytes.remaining());
    bytes.get(header, have, taken);
    have += taken;
  }

  /** A WINDOW_UPDATE of another length is an error. */
  private boolean hasIncrement() {
    return type() == WINDOW_UPDATE && length() == INCREMENT;
  }

  private boolean hasReason() {
    return type() == GOAWAY && length() >= REASON;
  }

  /** Bytes of the frame after its header. */
  int length() {
    return ((header[0] & 0xff) << 16) | ((header[1] & 0xff) << 8) | (header[2] & 0xff);
  }

  int type() {
    return header[3];
  }

  int flags() {
    return header[4];
  }

  int stream() {
    return number(5);
  }

  /** Increment of a WINDOW_UPDATE, 0 for other frames. */
  int increment() {
    return hasIncrement() ? number(HEADER) : 0;
  }

  /** Error code of a GOAWAY, 0 for other frames. */
  int errorCode() {
    return hasReason() ? number(HEADER + 4) : 0;
  }

  /** Reads 31 bits. */
  private int number(int at) {
    return ((header[at] & 0x7f) << 24)
        | ((header[at + 1] & 0xff) << 16)
        | ((header[at + 2] & 0xff) << 8)
        | (header[at + 3] & 0xff);
  }
}
