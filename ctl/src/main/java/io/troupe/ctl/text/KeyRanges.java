package io.troupe.ctl.text;

import com.google.protobuf.ByteString;

/** Ends of key ranges. */
public final class KeyRanges {
  /** The end of a range that includes all keys from its start on; also the first key. */
  public static final ByteString OPEN = ByteString.copyFrom(new byte[1]);

  private KeyRanges() {}

  /** The end of the range of all keys that start with {@code prefix}. */
  public static ByteString prefixEnd(ByteString prefix) {
    byte[] end = prefix.toByteArray();
    for (int i = end.length - 1; i >= 0; i--) {
      if (end[i] != (byte) 0xff) {
        end[i]++;
        return ByteString.copyFrom(end, 0, i + 1);
      }
    }
    return OPEN;
  }
}
