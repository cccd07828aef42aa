package io.troupe.tests.malformed;

import static io.troupe.tests.malformed.Http2Bytes.DATA;
import static io.troupe.tests.malformed.Http2Bytes.END_HEADERS;
import static io.troupe.tests.malformed.Http2Bytes.END_STREAM;
import static io.troupe.tests.malformed.Http2Bytes.GOAWAY;
import static io.troupe.tests.malformed.Http2Bytes.HEADERS;
import static io.troupe.tests.malformed.Http2Bytes.RST_STREAM;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.MethodDescriptor;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import javax.net.ssl.SSLException;

/**
 * Calls over complete HTTP/2 connections; each call that may not wait for other clients must get a
 * response.
 */
final class MalformedCalls {
  private static final int CALLS = 100;

  private final Target target;

  MalformedCalls(Target target) {
    this.target = target;
  }

  /** The bytes of one call, and whether a response is required. */
  private record Input(ByteString bytes, String what, boolean answered) {}

  /** Creates the bytes of one call on a stream. */
  private interface Maker {
    Input make(Random random, int stream);
  }

  /** Damaged or odd protobuf messages. */
  int messages(Random random) throws IOException {
    return fire(random, MalformedCalls::message);
  }

  /** Lengths, flags and ends of gRPC frames that do not match. */
  int framing(Random random) throws IOException {
    return fire(random, MalformedCalls::frames);
  }

  /** Paths, content types, time limits, tokens and other headers. */
  int metadata(Random random) throws IOException {
    return fire(random, MalformedCalls::headers);
  }

  private static Input message(Random random, int stream) {
    MethodDescriptor method = Target.method(random);
    byte[] message = Target.message(random, method);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(begin(stream, Target.path(method)));
    byte[] framed = Http2Bytes.framed(0, message.length, message);
    out.writeBytes(Http2Bytes.frame(DATA, END_STREAM, stream, framed));
    return new Input(
        ByteString.copyFrom(out.toByteArray()), method.getFullName(), !Target.mayWait(method));
  }

  private static Input frames(Random random, int stream) {
    MethodDescriptor method = Target.method(random);
    byte[] message = Target.message(random, method);
    int length =
        switch (random.nextInt(5)) {
          case 0 -> message.length + 1 + random.nextInt(100);
          case 1 -> random.nextInt(message.length + 1);
          case 2 -> Integer.MAX_VALUE;
          case 3 -> random.nextInt();
          default -> message.length;
        };
    byte[] framed = Http2Bytes.framed(random.nextInt(4), length, message);
    if (random.nextInt(4) == 0) {
      framed = Mutations.of(random, framed);
    }
    boolean ends = random.nextInt(5) > 0;
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(begin(stream, Target.path(method)));
    int cut = random.nextInt(framed.length + 1);
    out.writeBytes(Http2Bytes.frame(DATA, 0, stream, Arrays.copyOf(framed, cut)));
    byte[] rest = Arrays.copyOfRange(framed, cut, framed.length);
    out.writeBytes(Http2Bytes.frame(DATA, ends ? END_STREAM : 0, stream, rest));
    return new Input(
        ByteString.copyFrom(out.toByteArray()),
        method.getFullName(),
        ends && !Target.mayWait(method));
  }

  private static Input headers(Random random, int stream) {
    MethodDescriptor method = Target.method(random);
    String path = Target.path(method);
    String any = new String(Mutations.random(random, 60), StandardCharsets.ISO_8859_1);
    String printable = any.replaceAll("[^ -~\u00a0-\u00ff]", "~");
    String odd = random.nextInt(8) == 0 ? any : printable;
    byte[] block =
        switch (random.nextInt(8)) {
          case 0 -> Http2Bytes.call(path, "token", odd);
          case 1 -> Http2Bytes.call(path, "authorization", "Bearer " + jwt(random));
          case 2 -> Http2Bytes.call(path, "grpc-timeout", random.nextInt(1 << 30) + odd);
          case 3 -> Http2Bytes.call(path, "client-api-version", odd, "hasleader", odd);
          case 4 -> Http2Bytes.call(damaged(random, path));
          case 5 -> Http2Bytes.call(path, "grpc-encoding", odd, "grpc-accept-encoding", odd);
          case 6 -> Http2Bytes.call(path, "x".repeat(random.nextInt(9000)), odd);
          default -> Http2Bytes.headers(":method", odd, ":path", path, ":scheme", odd);
        };
    byte[] message = Target.message(random, method);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(Http2Bytes.frame(HEADERS, END_HEADERS, stream, block));
    byte[] framed = Http2Bytes.framed(0, message.length, message);
    out.writeBytes(Http2Bytes.frame(DATA, END_STREAM, stream, framed));
    return new Input(
        ByteString.copyFrom(out.toByteArray()), method.getFullName(), !Target.mayWait(method));
  }

  private static String damaged(Random random, String path) {
    byte[] bytes = Mutations.of(random, path.getBytes(StandardCharsets.US_ASCII));
    return new String(bytes, StandardCharsets.ISO_8859_1).replaceAll("[^!-~]", "~");
  }

  private static String jwt(Random random) {
    Base64.Encoder encoder = Base64.getUrlEncoder().withoutPadding();
    byte[] head = "{\"alg\":\"RS256\",\"typ\":\"JWT\"}".getBytes(StandardCharsets.US_ASCII);
    byte[] body =
        "{\"username\":\"root\",\"revision\":1,\"exp\":99999999999}"
            .getBytes(StandardCharsets.US_ASCII);
    return encoder.encodeToString(Mutations.of(random, head))
        + "."
        + encoder.encodeToString(Mutations.of(random, body))
        + "."
        + encoder.encodeToString(Mutations.random(random, 300));
  }

  private static byte[] begin(int stream, String path) {
    return Http2Bytes.frame(HEADERS, END_HEADERS, stream, Http2Bytes.call(path));
  }

  private int fire(Random random, Maker maker) throws IOException {
    Map<Integer, String> awaited = new HashMap<>();
    int sent = 0;
    try (Socket socket = target.connect(random)) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      out.writeBytes(Http2Bytes.opening());
      for (; sent < CALLS; sent++) {
        int stream = 2 * sent + 1;
        Input input = maker.make(random, stream);
        input.bytes().writeTo(out);
        if (input.answered()) {
          awaited.put(stream, input.what());
        }
      }
      socket.getOutputStream().write(out.toByteArray());
      DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
      while (!awaited.isEmpty() && read(in, awaited)) {
        // Until all calls have responses or the connection has ended.
      }
    } catch (SocketTimeoutException silent) {
      throw new AssertionError("not answered: " + awaited, silent);
    } catch (EOFException | SocketException | SSLException ended) {
      // The server may close a connection that violates the protocol.
    }
    return sent;
  }

  /** One frame; false if the server closes the connection. */
  private static boolean read(DataInputStream in, Map<Integer, String> awaited) throws IOException {
    int length = (in.readUnsignedByte() << 16) | in.readUnsignedShort();
    int type = in.readUnsignedByte();
    int flags = in.readUnsignedByte();
    int stream = in.readInt() & Integer.MAX_VALUE;
    in.skipNBytes(length);
    boolean ends = (type == DATA || type == HEADERS) && (flags & END_STREAM) != 0;
    if (ends || type == RST_STREAM) {
      awaited.remove(stream);
    }
    return type != GOAWAY;
  }
}
