package io.troupe.edge.frames;

import io.troupe.edge.frames.Http2FrameLimits.Breach;
import org.jspecify.annotations.Nullable;

/**
 * Checks the WINDOW_UPDATE frames of one HTTP/2 connection, which the HTTP layer does not: a window
 * above 2^31-1 overflows its counters, an increment of 0 stops the connection, and it reads a frame
 * of any length. Not thread-safe.
 *
 * @source RFC 9113 section 6.9
 */
final class FlowControlChecks {
  private static final int FIRST_WINDOW = 65_535;

  /** Bytes that the client currently accepts, over all streams. */
  private long window = FIRST_WINDOW;

  /** Counts a DATA frame that the server sends. */
  void sent(int bytes) {
    window -= bytes;
  }

  /**
   * Counts a WINDOW_UPDATE of the client.
   *
   * @param stream 0 for the connection
   * @param length of the payload
   * @param increment of the payload, if it has the right length
   * @return the violated rule
   */
  @Nullable Breach windowUpdate(int stream, int length, int increment) {
    if (length != Integer.BYTES) {
      return Breach.SIZE;
    }
    if (increment == 0) {
      return Breach.NO_INCREMENT;
    }
    if (stream == 0) {
      window += increment;
    }
    return window > Integer.MAX_VALUE ? Breach.WINDOW : null;
  }
}
