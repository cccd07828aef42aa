package io.troupe.edge.frames;

import java.nio.ByteBuffer;
import org.apache.pekko.util.ByteString;

/**
 * The server's first SETTINGS frame, to which the HTTP layer cannot add a setting.
 *
 * @source RFC 9113 sections 3.4, 6.5
 */
public final class SettingsFrame {
  private static final int HEADER = 9;
  private static final int SETTING = 6;
  private static final int SETTINGS = 4;
  private static final short MAX_HEADER_LIST_SIZE = 6;

  private SettingsFrame() {}

  /**
   * The same bytes with one more setting in the first frame.
   *
   * @param bytes the first bytes of the server; unchanged if they do not start with a complete
   *     SETTINGS frame
   * @param maxBytes maximum size of a request's headers, announced to clients
   */
  public static ByteString withHeaderLimit(ByteString bytes, int maxBytes) {
    byte[] sent = bytes.toArrayUnsafe();
    if (sent.length < HEADER || sent[3] != SETTINGS || sent[4] != 0) {
      return bytes;
    }
    int length = ((sent[0] & 0xff) << 16) | ((sent[1] & 0xff) << 8) | (sent[2] & 0xff);
    int end = HEADER + length;
    if (sent.length < end) {
      return bytes;
    }
    ByteBuffer out = ByteBuffer.allocate(sent.length + SETTING);
    out.put((byte) ((length + SETTING) >> 16)).putShort((short) (length + SETTING));
    out.put(sent, 3, end - 3);
    out.putShort(MAX_HEADER_LIST_SIZE).putInt(maxBytes);
    out.put(sent, end, sent.length - end);
    return ByteString.fromArrayUnsafe(out.array());
  }
}
