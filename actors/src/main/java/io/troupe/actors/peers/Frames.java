package io.troupe.actors.peers;

import io.troupe.model.Bytes;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Frames of a connection between members: four bytes with the length of the body (big endian), one
 * byte with the kind, the body (docs/formats/peer-connection.md).
 */
final class Frames {
  static final byte GREETING = 1;
  static final byte GREETING_REPLY = 2;
  static final byte PING = 3;
  static final byte PONG = 4;
  static final byte MESSAGE = 5;
  static final byte QUERY = 6;
  static final byte QUERY_REPLY = 7;

  private static final int HEAD_BYTES = 5;

  /** A body up to this size is read into an array of its size; a longer one grows from there. */
  private static final int FIRST_BYTES = 16 << 10;

  private static final int BUFFER_BYTES = 64 << 10;
  private static final byte[] NO_BODY = new byte[0];

  private Frames() {}

  /**
   * A received frame.
   *
   * @param body null if there was no memory for it: it was read and dropped
   */
  record Frame(byte kind, @Nullable Bytes body) {}

  /** Provides memory for bodies, and learns that bytes arrive. */
  interface Budget {
    /** Takes memory for a body; false if there is none. */
    boolean take(int bytes);

    /** Returns memory. */
    void release(int bytes);

    /**
     * Bytes arrived.
     *
     * @throws IOException if the connection must end
     */
    void received() throws IOException;
  }

  /** The bytes are no frame. */
  static final class BadFrameException extends IOException {
    private static final long serialVersionUID = 1;

    private final int length;

    BadFrameException(String reason) {
      super(reason);
      this.length = 0;
    }

    private BadFrameException(int length) {
      super("a frame of " + length + " bytes");
      this.length = length;
    }

    /** The length that the frame announces; 0 if the length is not the reason. */
    int length() {
      return length;
    }
  }

  /** Reads frames. Not thread-safe. */
  static final class Reader {
    private final InputStream in;
    private final Budget budget;
    private final byte[] head = new byte[HEAD_BYTES];

    /**
     * A reader.
     *
     * @param in buffered
     */
    Reader(InputStream in, Budget budget) {
      this.in = in;
      this.budget = budget;
    }

    /**
     * Waits for the next frame. The memory of its body is returned to the budget before this
     * returns.
     *
     * @return null at the end of the stream
     * @throws BadFrameException if the length is not in 0 to {@code maxBytes}
     */
    @Nullable Frame next(int maxBytes) throws IOException {
      int got = in.readNBytes(head, 0, HEAD_BYTES);
      if (got < HEAD_BYTES) {
        if (got == 0) {
          return null;
        }
        throw new EOFException("the connection ended inside a frame");
      }
      int length = ByteBuffer.wrap(head).getInt();
      if (length < 0 || length > maxBytes) {
        throw new BadFrameException(length);
      }
      budget.received();
      return new Frame(head[HEAD_BYTES - 1], body(length));
    }

    private @Nullable Bytes body(int length) throws IOException {
      byte[] body = NO_BODY;
      int have = 0;
      while (have < length) {
        if (have == body.length) {
          int grown = Math.min(length, Math.max(FIRST_BYTES, (int) Math.min(2L * have, length)));
          if (!budget.take(grown - body.length)) {
            budget.release(body.length);
            skip(length - have);
            return null;
          }
          body = Arrays.copyOf(body, grown);
        }
        int read = in.read(body, have, Math.min(body.length - have, BUFFER_BYTES));
        if (read < 0) {
          throw new EOFException("the connection ended inside a frame");
        }
        have += read;
        budget.received();
      }
      budget.release(body.length);
      return Bytes.wrap(body);
    }

    private void skip(int bytes) throws IOException {
      byte[] unused = new byte[Math.min(bytes, FIRST_BYTES)];
      int left = bytes;
      while (left > 0) {
        int read = in.read(unused, 0, Math.min(left, unused.length));
        if (read < 0) {
          throw new EOFException("the connection ended inside a frame");
        }
        left -= read;
        budget.received();
      }
    }
  }

  /** Writes frames through a buffer. Thread-safe. */
  static final class Writer {
    private final OutputStream out;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int used;

    Writer(OutputStream out) {
      this.out = out;
    }

    /** Adds a frame; it is sent at the next {@link #flush} at the latest. */
    synchronized void add(byte kind, byte[] body) throws IOException {
      if (buffer.length - used < HEAD_BYTES + body.length) {
        flush();
      }
      ByteBuffer.wrap(buffer, used, HEAD_BYTES).putInt(body.length).put(kind);
      used += HEAD_BYTES;
      if (body.length <= buffer.length - used) {
        System.arraycopy(body, 0, buffer, used, body.length);
        used += body.length;
      } else {
        flush();
        out.write(body);
      }
    }

    /** Adds a frame without a body and sends it. */
    synchronized void send(byte kind) throws IOException {
      add(kind, NO_BODY);
      flush();
    }

    /** Adds a frame and sends it. */
    synchronized void send(byte kind, byte[] body) throws IOException {
      add(kind, body);
      flush();
    }

    /** Sends what was added. Blocks while the other side takes nothing. */
    synchronized void flush() throws IOException {
      if (used > 0) {
        int length = used;
        used = 0;
        out.write(buffer, 0, length);
      }
      out.flush();
    }
  }
}
