package io.troupe.ctl.text;

import com.google.protobuf.ByteString;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Double-quoted strings with Go's escapes. Strings are bytes; invalid UTF-8 is escaped. */
public final class Quoted {
  private Quoted() {}

  /** The quoted form of UTF-8 bytes. Bytes that are not UTF-8 appear as {@code \xff}. */
  public static String quote(ByteString bytes) {
    StringBuilder out = new StringBuilder(bytes.size() + 2).append('"');
    for (int at = 0; at < bytes.size(); ) {
      int length = sequenceLength(bytes, at);
      if (length == 0) {
        hex(out, bytes.byteAt(at) & 0xff);
        at++;
      } else {
        append(out, bytes.substring(at, at + length).toStringUtf8().codePointAt(0));
        at += length;
      }
    }
    return out.append('"').toString();
  }

  /** The quoted form of a string. */
  public static String quote(String text) {
    return quote(ByteString.copyFromUtf8(text));
  }

  /** Length of the valid sequence at {@code at}; 0 if the byte there starts none. */
  private static int sequenceLength(ByteString bytes, int at) {
    int first = bytes.byteAt(at) & 0xff;
    int length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (length == 0 || first > 0xf4 || at + length > bytes.size()) {
      return 0;
    }
    return bytes.substring(at, at + length).isValidUtf8() ? length : 0;
  }

  private static void append(StringBuilder out, int c) {
    switch (c) {
      case '"' -> out.append("\\\"");
      case '\\' -> out.append("\\\\");
      case 0x07 -> out.append("\\a");
      case '\b' -> out.append("\\b");
      case '\f' -> out.append("\\f");
      case '\n' -> out.append("\\n");
      case '\r' -> out.append("\\r");
      case '\t' -> out.append("\\t");
      case 0x0b -> out.append("\\v");
      default -> {
        if (isPrintable(c)) {
          out.appendCodePoint(c);
        } else if (c < ' ' || c == 0x7f) {
          hex(out, c);
        } else if (c < 0x10000) {
          out.append(String.format(Locale.ROOT, "\\u%04x", c));
        } else {
          out.append(String.format(Locale.ROOT, "\\U%08x", c));
        }
      }
    }
  }

  private static void hex(StringBuilder out, int value) {
    out.append(String.format(Locale.ROOT, "\\x%02x", value));
  }

  /** Letters, marks, numbers, punctuation, symbols and the space. */
  private static boolean isPrintable(int c) {
    if (c == ' ') {
      return true;
    }
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SPACE_SEPARATOR ->
          false;
      default -> true;
    };
  }

  /**
   * Reads a quoted string.
   *
   * @param text with the quotes: double quotes with escapes, or backquotes without
   * @return its bytes
   * @throws IllegalArgumentException if the text is not a complete quoted string
   */
  public static ByteString unquote(String text) {
    if (text.length() < 2 || text.charAt(0) != text.charAt(text.length() - 1)) {
      throw new IllegalArgumentException("invalid syntax");
    }
    String inner = text.substring(1, text.length() - 1);
    if (text.charAt(0) == '`') {
      return ByteString.copyFromUtf8(inner);
    }
    if (text.charAt(0) != '"') {
      throw new IllegalArgumentException("invalid syntax");
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int at = 0; at < inner.length(); ) {
      char c = inner.charAt(at);
      if (c == '"' || c == '\n') {
        throw new IllegalArgumentException("invalid syntax");
      }
      if (c != '\\') {
        int point = inner.codePointAt(at);
        out.writeBytes(Character.toString(point).getBytes(StandardCharsets.UTF_8));
        at += Character.charCount(point);
        continue;
      }
      at = escape(inner, at + 1, out);
    }
    return ByteString.copyFrom(out.toByteArray());
  }

  /** Decodes the escape whose letter is at {@code at}; returns the index after it. */
  private static int escape(String inner, int at, ByteArrayOutputStream out) {
    if (at >= inner.length()) {
      throw new IllegalArgumentException("invalid syntax");
    }
    char kind = inner.charAt(at);
    int simple = "abfnrtv\\\"".indexOf(kind);
    if (simple >= 0) {
      out.write("\u0007\b\f\n\r\t\u000b\\\"".charAt(simple));
      return at + 1;
    }
    if (kind >= '0' && kind <= '7') {
      int value = number(inner, at, at + 3, 8);
      if (value > 0xff) {
        throw new IllegalArgumentException("invalid syntax");
      }
      out.write(value);
      return at + 3;
    }
    int digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (digits == 0) {
      throw new IllegalArgumentException("invalid syntax");
    }
    int value = number(inner, at + 1, at + 1 + digits, 16);
    if (kind == 'x') {
      out.write(value);
    } else if (Character.isValidCodePoint(value) && (value < 0xd800 || value > 0xdfff)) {
      out.writeBytes(Character.toString(value).getBytes(StandardCharsets.UTF_8));
    } else {
      throw new IllegalArgumentException("invalid syntax");
    }
    return at + 1 + digits;
  }

  private static int number(String inner, int from, int to, int radix) {
    if (to > inner.length()) {
      throw new IllegalArgumentException("invalid syntax");
    }
    try {
      return Integer.parseUnsignedInt(inner.substring(from, to), radix);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("invalid syntax", e);
    }
  }
}
