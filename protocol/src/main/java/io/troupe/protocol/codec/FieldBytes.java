package io.troupe.protocol.codec;

import com.google.protobuf.ByteOutput;
import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.troupe.model.Bytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Receives the bytes of a protobuf field without a copy. A field that protobuf holds in one array,
 * as its parser makes them, shares that array.
 */
final class FieldBytes extends ByteOutput {
  private Bytes bytes = Bytes.EMPTY;

  private FieldBytes() {}

  /** The bytes of a field; they keep the array in memory that the field is a part of. */
  static Bytes shared(ByteString field) {
    if (field.isEmpty()) {
      return Bytes.EMPTY;
    }
    FieldBytes out = new FieldBytes();
    try {
      UnsafeByteOperations.unsafeWriteTo(field, out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.bytes;
  }

  private void append(Bytes more) {
    bytes = bytes.isEmpty() ? more : bytes.concat(more);
  }

  @Override
  public void writeLazy(byte[] value, int offset, int length) {
    append(Bytes.wrap(value, offset, length));
  }

  @Override
  public void writeLazy(ByteBuffer value) {
    write(value);
  }

  @Override
  public void write(byte value) {
    append(Bytes.wrap(new byte[] {value}));
  }

  @Override
  public void write(byte[] value, int offset, int length) {
    append(Bytes.wrap(Arrays.copyOfRange(value, offset, offset + length)));
  }

  @Override
  public void write(ByteBuffer value) {
    byte[] copy = new byte[value.remaining()];
    value.get(copy);
    append(Bytes.wrap(copy));
  }
}
