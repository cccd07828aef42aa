package io.troupe.tests.conformance;

import com.google.protobuf.ByteString;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import io.troupe.grpc.api.WatchRequest;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * One HTTP/2 connection with frames that a test writes and reads itself, for input that no client
 * library sends. Header values are sent as given. One thread.
 */
final class RawHttp2 implements AutoCloseable {
  static final int DATA = 0;
  static final int HEADERS = 1;
  static final int RST_STREAM = 3;
  static final int SETTINGS = 4;
  static final int PING = 6;
  static final int GOAWAY = 7;
  static final int WINDOW_UPDATE = 8;
  static final int FLOW_CONTROL_ERROR = 3;
  static final int ENHANCE_YOUR_CALM = 0xb;

  private static final int CANCEL = 8;
  private static final int END_STREAM = 1;
  private static final int ACK = 1;
  private static final int END_HEADERS = 4;
  private static final int PATIENCE_MS = 20_000;

  /** Window bytes of a stream and of the connection that earlier messages may have left unused. */
  private static final int FIRST = 32_768;

  private static final int MAX_DATA = 16_384;

  private final Socket socket;
  private final OutputStream out;
  private final DataInputStream in;
  private final String scheme;
  private final String authority;
  private final DefaultHttp2HeadersEncoder encoder =
      new DefaultHttp2HeadersEncoder((name, value) -> false, false, 16, Integer.MAX_VALUE);
  private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(false);
  private final Deque<Frame> held = new ArrayDeque<>();

  /** Window bytes that the server grants to this client; counts only messages of zeros. */
  private final Map<Integer, Integer> windows = new HashMap<>();

  private int nextStream = 1;
  private boolean answersPings = true;

  /**
   * A received frame.
   *
   * @param headers of a HEADERS frame, decoded when it came: later ones refer to earlier ones
   */
  record Frame(
      int type, int flags, int stream, ByteString payload, @Nullable Http2Headers headers) {
    boolean isEnd() {
      return (type == DATA || type == HEADERS) && (flags & END_STREAM) != 0;
    }

    /** Of a GOAWAY. */
    int errorCode() {
      return payload.asReadOnlyByteBuffer().getInt(4);
    }

    /** Of a GOAWAY. */
    String debugData() {
      return payload.substring(8).toStringUtf8();
    }
  }

  /** The status of a call, from its trailers. */
  record Outcome(@Nullable String status, @Nullable String message, int messages) {}

  private RawHttp2(Socket socket, String scheme, String authority) throws IOException {
    this.socket = socket;
    this.scheme = scheme;
    this.authority = authority;
    this.out = socket.getOutputStream();
    this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
  }

  /** Connects with prior knowledge and exchanges settings. */
  static RawHttp2 connect(String target) {
    int colon = target.lastIndexOf(':');
    try {
      Socket socket =
          new Socket(target.substring(0, colon), Integer.parseInt(target.substring(colon + 1)));
      return begin(socket, "http", target);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Connects with TLS; the handshake offers HTTP/2. */
  static RawHttp2 connect(SSLContext tls, int port) {
    try {
      SSLSocket socket = (SSLSocket) tls.getSocketFactory().createSocket("127.0.0.1", port);
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setApplicationProtocols(new String[] {"h2"});
      socket.setSSLParameters(parameters);
      return begin(socket, "https", "127.0.0.1:" + port);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static RawHttp2 begin(Socket socket, String scheme, String authority) throws IOException {
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(PATIENCE_MS);
    RawHttp2 connection = new RawHttp2(socket, scheme, authority);
    connection.out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    connection.write(SETTINGS, 0, 0, new byte[0]);
    return connection;
  }

  private void write(int type, int flags, int stream, byte[] payload) {
    ByteBuffer frame = ByteBuffer.allocate(9 + payload.length);
    frame.put((byte) (payload.length >> 16)).putShort((short) payload.length);
    frame.put((byte) type).put((byte) flags).putInt(stream).put(payload);
    try {
      out.write(frame.array());
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Starts a gRPC call; its stream stays open until {@link #message} ends it.
   *
   * @param method "service/method"
   * @param metadata header values byte for byte
   * @return the stream's number
   */
  int call(String method, Map<String, byte[]> metadata) {
    Http2Headers headers = request("POST", "/" + method);
    headers.add("content-type", "application/grpc").add("te", "trailers");
    metadata.forEach((name, value) -> headers.add(name, new AsciiString(value, true)));
    return send(headers, END_HEADERS);
  }

  /** Starts a watch of a key, waits until the watcher exists, and returns the stream ID. */
  int watch(String key) {
    int stream = call("etcdserverpb.Watch/Watch", Map.of());
    message(
        stream,
        WatchRequest.newBuilder().setCreateRequest(Requests.watch(key)).build().toByteArray(),
        false);
    await(frame -> frame.stream() == stream && frame.type() == DATA);
    return stream;
  }

  /** A GET request; returns the stream ID. */
  int get(String path) {
    return send(request("GET", path), END_HEADERS | END_STREAM);
  }

  /** A complete POST request with a JSON body; returns the stream ID. */
  int json(String path, String body) {
    Http2Headers headers = request("POST", path);
    headers.add("content-type", "application/json");
    int stream = send(headers, END_HEADERS);
    write(DATA, END_STREAM, stream, body.getBytes(StandardCharsets.UTF_8));
    return stream;
  }

  /** Cancels a call: RST_STREAM with CANCEL. */
  void reset(int stream) {
    write(RST_STREAM, 0, stream, ByteBuffer.allocate(4).putInt(CANCEL).array());
  }

  private Http2Headers request(String method, String path) {
    return new DefaultHttp2Headers(false)
        .method(method)
        .scheme(scheme)
        .path(path)
        .authority(authority);
  }

  private int send(Http2Headers headers, int flags) {
    int stream = nextStream;
    nextStream += 2;
    ByteBuf block = Unpooled.buffer();
    try {
      encoder.encodeHeaders(stream, headers, block);
    } catch (Http2Exception e) {
      throw new IllegalArgumentException(e);
    }
    byte[] bytes = new byte[block.readableBytes()];
    block.readBytes(bytes);
    write(HEADERS, flags, stream, bytes);
    return stream;
  }

  /** Sends one message of a call. */
  void message(int stream, byte[] message, boolean last) {
    byte[] framed =
        ByteBuffer.allocate(5 + message.length)
            .put((byte) 0)
            .putInt(message.length)
            .put(message)
            .array();
    write(DATA, last ? END_STREAM : 0, stream, framed);
  }

  /** Closes the client side of a call without another message. */
  void end(int stream) {
    write(DATA, END_STREAM, stream, new byte[0]);
  }

  /**
   * Sends that many zero bytes on a stream: a sequence of empty messages. Sends as fast as the
   * server's windows allow, unless the server resets the stream; received frames are kept for
   * {@link #await}.
   */
  void zeros(int stream, int bytes) {
    int left = bytes;
    while (left > 0) {
      int window = Math.min(windows.getOrDefault(stream, FIRST), windows.getOrDefault(0, FIRST));
      int chunk = Math.min(left, Math.min(window, MAX_DATA));
      if (chunk > 0) {
        write(DATA, 0, stream, new byte[chunk]);
        windows.merge(stream, FIRST - chunk, (before, first) -> before - chunk);
        windows.merge(0, FIRST - chunk, (before, first) -> before - chunk);
        left -= chunk;
        continue;
      }
      Frame frame = received();
      if (frame == null) {
        throw new AssertionError("the server closed the connection, " + left + " bytes unsent");
      }
      held.add(frame);
      if (frame.type() == RST_STREAM && frame.stream() == stream) {
        return;
      }
    }
  }

  /** Grants the server more bytes; stream 0 is the connection. */
  void widenWindow(int stream, int bytes) {
    write(WINDOW_UPDATE, 0, stream, ByteBuffer.allocate(4).putInt(bytes).array());
  }

  /** Stops acknowledging pings, as a dead client does. */
  void answersNoPings() {
    answersPings = false;
  }

  /** A ping that requests an acknowledgement. */
  void ping() {
    write(PING, 0, 0, new byte[8]);
  }

  /** A ping and its acknowledgement. */
  void pingAndWait() {
    ping();
    await(frame -> frame.type() == PING && (frame.flags() & ACK) != 0);
  }

  /** The next matching frame; acknowledges settings and pings of the server meanwhile. */
  Frame await(Predicate<Frame> wanted) {
    while (true) {
      Frame frame = next();
      if (frame == null) {
        throw new AssertionError("the server closed the connection");
      }
      if (wanted.test(frame)) {
        return frame;
      }
      if (frame.type() == GOAWAY) {
        throw new AssertionError("GOAWAY " + frame.errorCode() + " " + frame.debugData());
      }
    }
  }

  /** Reads until the call has ended. */
  Outcome outcome(int stream) {
    int messages = 0;
    String status = null;
    String message = null;
    while (true) {
      Frame frame =
          await(
              f ->
                  f.stream() == stream
                      && (f.type() == DATA || f.type() == HEADERS || f.type() == RST_STREAM));
      if (frame.type() == RST_STREAM) {
        throw new AssertionError("stream reset " + frame.payload().asReadOnlyByteBuffer().getInt());
      }
      if (frame.type() == HEADERS) {
        Http2Headers headers = Objects.requireNonNull(frame.headers());
        CharSequence code = headers.get("grpc-status");
        CharSequence text = headers.get("grpc-message");
        status = code == null ? status : code.toString();
        message = text == null ? message : text.toString();
      } else if (!frame.payload().isEmpty()) {
        messages++;
      }
      if (frame.isEnd()) {
        return new Outcome(status, message, messages);
      }
    }
  }

  /** The status of the response headers; does not read what follows. */
  String httpStatus(int stream) {
    Frame first = await(f -> f.stream() == stream && f.type() == HEADERS);
    return String.valueOf(Objects.requireNonNull(first.headers()).status());
  }

  private Http2Headers decoded(int stream, byte[] block) {
    try {
      return decoder.decodeHeaders(stream, Unpooled.wrappedBuffer(block));
    } catch (Http2Exception e) {
      throw new AssertionError("undecodable headers", e);
    }
  }

  /** Checks that the server sends only the end of the connection. */
  void expectClosed() {
    Frame frame = next();
    while (frame != null && frame.type() != DATA && frame.type() != HEADERS) {
      frame = next();
    }
    if (frame != null) {
      throw new AssertionError("the server continues: " + frame);
    }
  }

  private @Nullable Frame next() {
    return held.isEmpty() ? received() : held.remove();
  }

  private @Nullable Frame received() {
    try {
      int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
      int type = in.readUnsignedByte();
      int flags = in.readUnsignedByte();
      int stream = in.readInt() & Integer.MAX_VALUE;
      byte[] payload = in.readNBytes(length);
      Frame frame =
          new Frame(
              type,
              flags,
              stream,
              ByteString.copyFrom(payload),
              type == HEADERS ? decoded(stream, payload) : null);
      if (type == WINDOW_UPDATE) {
        int more = frame.payload().asReadOnlyByteBuffer().getInt();
        windows.merge(stream, FIRST + more, (before, first) -> before + more);
      }
      if (type == SETTINGS && (flags & ACK) == 0) {
        write(SETTINGS, ACK, 0, new byte[0]);
      } else if (type == PING && (flags & ACK) == 0 && answersPings) {
        write(PING, ACK, 0, payload);
      }
      return frame;
    } catch (EOFException | SocketException ended) {
      // Closed, or reset because sent bytes were still in flight.
      return null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
      encoder.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
