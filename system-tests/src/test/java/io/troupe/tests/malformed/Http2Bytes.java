package io.troupe.tests.malformed;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** HTTP/2 as bytes, without a library that would refuse to write malformed input. */
public final class Http2Bytes {
  public static final int DATA = 0;
  public static final int HEADERS = 1;
  public static final int RST_STREAM = 3;
  public static final int SETTINGS = 4;
  public static final int PING = 6;
  public static final int GOAWAY = 7;
  public static final int WINDOW_UPDATE = 8;
  public static final int END_STREAM = 1;
  public static final int END_HEADERS = 4;

  private Http2Bytes() {}

  /** The first bytes of a client: its windows are as large as possible. */
  public static byte[] opening() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    byte[] window = ByteBuffer.allocate(6).putShort((short) 4).putInt(Integer.MAX_VALUE).array();
    out.writeBytes(frame(SETTINGS, 0, 0, window));
    out.writeBytes(frame(WINDOW_UPDATE, 0, 0, ByteBuffer.allocate(4).putInt(1 << 30).array()));
    return out.toByteArray();
  }

  public static byte[] frame(int type, int flags, int stream, byte[] payload) {
    return ByteBuffer.allocate(9 + payload.length)
        .put((byte) (payload.length >> 16))
        .putShort((short) payload.length)
        .put((byte) type)
        .put((byte) flags)
        .putInt(stream)
        .put(payload)
        .array();
  }

  /** Names and values alternate; none of them indexed, none compressed. */
  public static byte[] headers(String... namesAndValues) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      out.write(0);
      text(out, namesAndValues[i]);
      text(out, namesAndValues[i + 1]);
    }
    return out.toByteArray();
  }

  /** Each character is one byte. */
  private static void text(ByteArrayOutputStream out, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
    int length = bytes.length;
    if (length < 0x7f) {
      out.write(length);
    } else {
      out.write(0x7f);
      for (length -= 0x7f; length >= 0x80; length >>= 7) {
        out.write((length & 0x7f) | 0x80);
      }
      out.write(length);
    }
    out.writeBytes(bytes);
  }

  public static byte[] call(String path, String... more) {
    String[] all = new String[12 + more.length];
    String[] usual = {
      ":method",
      "POST",
      ":scheme",
      "http",
      ":path",
      path,
      ":authority",
      "localhost",
      "content-type",
      "application/grpc",
      "te",
      "trailers"
    };
    System.arraycopy(usual, 0, all, 0, usual.length);
    System.arraycopy(more, 0, all, usual.length, more.length);
    return headers(all);
  }

  /** A gRPC message with its prefix of five bytes. */
  public static byte[] framed(int compressed, int length, byte[] message) {
    return ByteBuffer.allocate(5 + message.length)
        .put((byte) compressed)
        .putInt(length)
        .put(message)
        .array();
  }
}
