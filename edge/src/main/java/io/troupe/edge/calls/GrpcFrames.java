package io.troupe.edge.calls;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.MessageLite;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.Bytes;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.function.Supplier;
import java.util.zip.GZIPInputStream;
import org.apache.pekko.util.ByteString;

/** Length-prefixed messages of gRPC: one flag byte, four length bytes, the message. */
public final class GrpcFrames {
  public static final int HEADER = 5;

  private GrpcFrames() {}

  /** Encodes {@code message} as one uncompressed frame. */
  static ByteString frame(MessageLite message) {
    int size = message.getSerializedSize();
    byte[] out = new byte[HEADER + size];
    putLength(out, 0, size);
    CodedOutputStream target = CodedOutputStream.newInstance(out, HEADER, size);
    try {
      message.writeTo(target);
      target.checkNoSpaceLeft();
    } catch (IOException e) {
      throw new IllegalStateException("array of the exact size is too small", e);
    }
    return ByteString.fromArrayUnsafe(out);
  }

  static void putLength(byte[] target, int at, int size) {
    target[at] = 0;
    target[at + 1] = (byte) (size >>> 24);
    target[at + 2] = (byte) (size >>> 16);
    target[at + 3] = (byte) (size >>> 8);
    target[at + 4] = (byte) size;
  }

  /** Length that the frame at {@code at} announces, as an unsigned number. */
  static long length(byte[] bytes, int at) {
    return ((bytes[at + 1] & 0xffL) << 24)
        | ((bytes[at + 2] & 0xffL) << 16)
        | ((bytes[at + 3] & 0xffL) << 8)
        | (bytes[at + 4] & 0xffL);
  }

  /**
   * Decodes the single message of a unary request.
   *
   * @param body the whole body
   * @param encoding of compressed frames, from the header grpc-encoding; empty when there is none.
   *     Called only for a compressed frame
   * @throws GrpcException if there is not exactly one complete frame, or it is larger than {@code
   *     maxBytes}
   */
  static Bytes single(ByteString body, Supplier<String> encoding, int maxBytes) {
    byte[] bytes = body.toArrayUnsafe();
    if (bytes.length < HEADER) {
      throw new GrpcException(GrpcStatus.INTERNAL, "grpc: request body holds no message");
    }
    long length = length(bytes, 0);
    checkSize(length, maxBytes);
    if (bytes.length != HEADER + length) {
      throw new GrpcException(
          GrpcStatus.INTERNAL, "grpc: request body does not hold exactly one message");
    }
    Bytes content = Bytes.wrap(bytes, HEADER, bytes.length - HEADER);
    return bytes[0] == 0 ? content : payload(bytes[0], content, encoding.get(), maxBytes);
  }

  /** Rejects a message above the limit, with gRPC's text. */
  public static void checkSize(long length, int maxBytes) {
    if (length > maxBytes) {
      throw new GrpcException(
          GrpcStatus.RESOURCE_EXHAUSTED,
          "grpc: received message larger than max (" + length + " vs. " + maxBytes + ")");
    }
  }

  /** The message after a frame's flag byte, decompressed if the flag says so. */
  static Bytes payload(byte flag, Bytes content, String encoding, int maxBytes) {
    if (flag == 0) {
      return content;
    }
    if (flag != 1) {
      throw new GrpcException(
          GrpcStatus.INTERNAL, "grpc: received unexpected payload format " + flag);
    }
    if (!encoding.equals("gzip")) {
      throw new GrpcException(
          GrpcStatus.UNIMPLEMENTED,
          "grpc: Decompressor is not installed for grpc-encoding \"" + encoding + "\"");
    }
    try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(content.toArray()))) {
      byte[] out = in.readNBytes(maxBytes + 1);
      checkSize(out.length, maxBytes);
      return Bytes.wrap(out);
    } catch (IOException e) {
      throw new GrpcException(
          GrpcStatus.INTERNAL,
          "grpc: failed to decompress the received message: " + e.getMessage());
    }
  }
}
