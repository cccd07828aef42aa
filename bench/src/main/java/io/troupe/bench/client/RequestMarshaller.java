package io.troupe.bench.client;

import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/** Passes requests on, which are encoded already. */
final class RequestMarshaller implements MethodDescriptor.Marshaller<byte[]> {

  /**
   * Knows its length and writes all bytes in one step, so that grpc-java copies the message once,
   * into the frame.
   */
  private static final class Encoded extends ByteArrayInputStream
      implements KnownLength, Drainable {
    Encoded(byte[] bytes) {
      super(bytes);
    }

    @Override
    public int drainTo(OutputStream target) throws IOException {
      int length = count - pos;
      target.write(buf, pos, length);
      pos = count;
      return length;
    }
  }

  @Override
  public InputStream stream(byte[] value) {
    return new Encoded(value);
  }

  @Override
  public byte[] parse(InputStream stream) {
    try {
      return stream.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
