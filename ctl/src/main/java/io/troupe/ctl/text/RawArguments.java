package io.troupe.ctl.text;

import com.google.protobuf.ByteString;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Keys and values are bytes, but arguments of a Java program are text. A byte that is not UTF-8 is
 * carried as a lone low surrogate, U+DC80 to U+DCFF, which no UTF-8 text contains.
 */
public final class RawArguments {
  private static final int BASE = 0xdc00;

  private RawArguments() {}

  /** The text that carries {@code bytes}; {@link #encode} returns them unchanged. */
  public static String decode(ByteString bytes) {
    if (bytes.isValidUtf8()) {
      return bytes.toStringUtf8();
    }
    StringBuilder text = new StringBuilder();
    for (int at = 0; at < bytes.size(); ) {
      int end = at + 1;
      while (end < Math.min(at + 4, bytes.size()) && !bytes.substring(at, end).isValidUtf8()) {
        end++;
      }
      if (bytes.substring(at, end).isValidUtf8()) {
        text.append(bytes.substring(at, end).toStringUtf8());
        at = end;
      } else {
        text.append((char) (BASE + (bytes.byteAt(at) & 0xff)));
        at++;
      }
    }
    return text.toString();
  }

  /** The bytes of an argument. */
  public static ByteString encode(String text) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(text.length());
    for (int at = 0; at < text.length(); ) {
      int point = text.codePointAt(at);
      if (point >= BASE + 0x80 && point <= BASE + 0xff) {
        out.write(point - BASE);
      } else {
        out.writeBytes(Character.toString(point).getBytes(StandardCharsets.UTF_8));
      }
      at += Character.charCount(point);
    }
    return ByteString.copyFrom(out.toByteArray());
  }
}
