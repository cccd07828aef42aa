package io.troupe.ctl.client;

import com.google.protobuf.MessageLite;
import com.google.protobuf.Parser;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Converts protobuf messages to and from the body of a call. */
final class MessageMarshaller<T extends MessageLite> implements MethodDescriptor.Marshaller<T> {
  private final Parser<T> parser;

  MessageMarshaller(Parser<T> parser) {
    this.parser = parser;
  }

  @Override
  public InputStream stream(T value) {
    return new Body(value.toByteArray());
  }

  @Override
  public T parse(InputStream stream) {
    try {
      return parser.parseFrom(stream);
    } catch (IOException e) {
      throw new UncheckedIOException("the response is not a message of etcd's API", e);
    }
  }

  /** A body whose length is known, so that the transport needs no second copy. */
  private static final class Body extends ByteArrayInputStream implements KnownLength {
    Body(byte[] bytes) {
      super(bytes);
    }
  }
}
