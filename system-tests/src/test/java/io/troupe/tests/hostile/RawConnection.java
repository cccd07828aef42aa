package io.troupe.tests.hostile;

import io.troupe.tests.malformed.Http2Bytes;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import javax.net.ssl.SSLException;

/** A connection that sends and receives raw bytes and HTTP/2 frames. One thread. */
final class RawConnection implements Attack.Held {
  private static final String HTTP2 = "h2";
  private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

  /** Under TLS, or the same as {@link #socket}. */
  private final Socket wire;

  private final Socket socket;
  private final DataInputStream in;
  private int streams;

  /**
   * A frame.
   *
   * @param stream 0 for the connection
   */
  record Frame(int type, int flags, int stream, ByteBuffer payload) {
    boolean endsStream() {
      return (type == Http2Bytes.HEADERS || type == Http2Bytes.DATA)
          && (flags & Http2Bytes.END_STREAM) != 0;
    }

    /** Of a GOAWAY. */
    int errorCode() {
      return payload.getInt(4);
    }
  }

  private RawConnection(Socket wire, Socket socket) throws IOException {
    this.wire = wire;
    this.socket = socket;
    this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
  }

  /**
   * A connection after a TLS handshake that has sent nothing else.
   *
   * @param receiveBytes size of its receive buffer; 0 for the usual one
   * @param protocol offered in the handshake
   */
  static RawConnection dial(Target target, int receiveBytes, String protocol) throws IOException {
    Socket wire = target.dial(receiveBytes);
    return new RawConnection(wire, target.secured(wire, protocol));
  }

  /** The largest possible windows. */
  static RawConnection wide(Target target) throws IOException {
    return dial(target, 0, HTTP2).write(Http2Bytes.opening());
  }

  /** Windows of 65,535 bytes that are never enlarged. */
  static RawConnection narrow(Target target) throws IOException {
    return dial(target, 0, HTTP2)
        .write(PREFACE.getBytes(StandardCharsets.US_ASCII))
        .frame(Http2Bytes.SETTINGS, 0, 0, new byte[0]);
  }

  RawConnection write(byte[] bytes) throws IOException {
    try {
      socket.getOutputStream().write(bytes);
      return this;
    } catch (SSLException closed) {
      throw Target.closed(closed);
    }
  }

  RawConnection frame(int type, int flags, int stream, byte[] payload) throws IOException {
    return write(Http2Bytes.frame(type, flags, stream, payload));
  }

  /** The next stream ID of this client. */
  int nextStream() {
    return 2 * streams++ + 1;
  }

  /**
   * A complete gRPC request.
   *
   * @param message protobuf
   * @return the bytes, to be written
   */
  static byte[] request(int stream, String path, byte[] message, String... headers) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(begin(stream, path, headers));
    byte[] framed = Http2Bytes.framed(0, message.length, message);
    out.writeBytes(Http2Bytes.frame(Http2Bytes.DATA, Http2Bytes.END_STREAM, stream, framed));
    return out.toByteArray();
  }

  /** The headers of a gRPC request. */
  static byte[] begin(int stream, String path, String... headers) {
    return Http2Bytes.frame(
        Http2Bytes.HEADERS, Http2Bytes.END_HEADERS, stream, Http2Bytes.call(path, headers));
  }

  /** The next frame; empty when the member has closed the connection. */
  Optional<Frame> read() throws IOException {
    try {
      int length = (in.readUnsignedByte() << 16) | in.readUnsignedShort();
      int type = in.readUnsignedByte();
      int flags = in.readUnsignedByte();
      int stream = in.readInt() & Integer.MAX_VALUE;
      byte[] payload = new byte[length];
      in.readFully(payload);
      return Optional.of(
          new Frame(type, flags, stream, ByteBuffer.wrap(payload).asReadOnlyBuffer()));
    } catch (EOFException | SocketException | SSLException closed) {
      return Optional.empty();
    }
  }

  /**
   * Reads to the end of the connection.
   *
   * @return the error code of its GOAWAY; empty if it ended without
   */
  Optional<Integer> awaitGoAway() throws IOException {
    Optional<Integer> code = Optional.empty();
    for (Optional<Frame> frame = read(); frame.isPresent(); frame = read()) {
      if (frame.get().type() == Http2Bytes.GOAWAY) {
        code = Optional.of(frame.get().errorCode());
      }
    }
    return code;
  }

  /** All bytes to the end of the connection, as text. */
  String text() throws IOException {
    return new String(in.readAllBytes(), StandardCharsets.UTF_8);
  }

  /** Whether unread bytes exist. */
  boolean hasMore() throws IOException {
    return in.available() > 0 || wire.getInputStream().available() > 0;
  }

  /** Without the close_notify alert of TLS, which blocks if the member reads nothing. */
  @Override
  public void close() {
    try {
      wire.close();
    } catch (IOException e) {
      throw new IllegalStateException("a socket does not close", e);
    }
  }
}
