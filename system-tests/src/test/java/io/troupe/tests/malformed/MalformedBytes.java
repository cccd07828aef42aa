package io.troupe.tests.malformed;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import javax.net.ssl.SSLException;

/**
 * Bytes that are no calls: noise, heads of HTTP/1 and frames of HTTP/2 that violate the protocol.
 * One connection each; the response does not matter, and half of the connections are closed without
 * reading.
 */
final class MalformedBytes {
  private static final int GLANCE_MS = 20;
  private static final int FRAMES = 20;
  private static final String HEAD =
      "POST /v3/kv/put HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\nConnection: upgrade\r\n"
          + "Upgrade: websocket\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n{\"key\":\"YQ==\"}";

  private final Target target;

  MalformedBytes(Target target) {
    this.target = target;
  }

  /** Random bytes, some of them after a valid beginning. */
  int noise(Random random) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    if (random.nextBoolean()) {
      out.writeBytes(Http2Bytes.opening());
    }
    out.writeBytes(Mutations.random(random, 3000));
    return throwAt(random, out.toByteArray());
  }

  /** Damaged HTTP/1.1 requests. */
  int heads(Random random) throws IOException {
    byte[] right = HEAD.getBytes(StandardCharsets.US_ASCII);
    byte[] bytes = right;
    for (int damages = 1 + random.nextInt(3); damages > 0; damages--) {
      bytes = Mutations.of(random, bytes);
    }
    return throwAt(random, bytes);
  }

  /** Frames of all types with any flags, streams, lengths and contents. */
  int frames(Random random) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(Http2Bytes.opening());
    for (int i = 0; i < FRAMES; i++) {
      out.writeBytes(frame(random));
    }
    return throwAt(random, out.toByteArray());
  }

  private static byte[] frame(Random random) {
    byte[] payload =
        switch (random.nextInt(4)) {
          case 0 -> Http2Bytes.call("/etcdserverpb.KV/Range");
          case 1 -> ByteBuffer.allocate(8).putLong(random.nextLong()).array();
          case 2 ->
              ByteBuffer.allocate(6)
                  .putShort((short) random.nextInt(9))
                  .putInt(random.nextInt())
                  .array();
          default -> Mutations.random(random, 100);
        };
    int stream = random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(12);
    byte[] frame = Http2Bytes.frame(random.nextInt(12), random.nextInt(256), stream, payload);
    return random.nextInt(3) == 0 ? Mutations.of(random, frame) : frame;
  }

  private int throwAt(Random random, byte[] bytes) throws IOException {
    try (Socket socket = target.connect(random)) {
      OutputStream out = socket.getOutputStream();
      int cut = random.nextInt(bytes.length + 1);
      out.write(bytes, 0, cut);
      out.write(bytes, cut, bytes.length - cut);
      if (random.nextBoolean()) {
        socket.setSoTimeout(GLANCE_MS);
        InputStream in = socket.getInputStream();
        in.readNBytes(1 << 16);
      }
    } catch (SocketTimeoutException | SocketException | SSLException expected) {
      // No response, or the connection is closed: both are valid.
    }
    return 1;
  }
}
