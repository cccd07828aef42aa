package io.troupe.bench.client;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.grpc.MethodDescriptor;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Reads the size of a message, and its bytes only if the method keeps them. */
final class ReplyMarshaller implements MethodDescriptor.Marshaller<Reply> {
  private final boolean keepBody;

  ReplyMarshaller(boolean keepBody) {
    this.keepBody = keepBody;
  }

  @Override
  public InputStream stream(Reply value) {
    return new ByteArrayInputStream(value.body().toByteArray());
  }

  @Override
  public Reply parse(InputStream stream) {
    try {
      if (!keepBody) {
        // The stream of a received message knows its length (io.grpc.KnownLength).
        return new Reply(stream.available(), ByteString.EMPTY);
      }
      byte[] bytes = stream.readAllBytes();
      return new Reply(bytes.length, UnsafeByteOperations.unsafeWrap(bytes));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
