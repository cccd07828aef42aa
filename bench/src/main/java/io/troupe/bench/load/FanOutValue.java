package io.troupe.bench.load;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import io.troupe.grpc.api.PutRequest;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Values that identify their put: writer (4 bytes) and its sequence number (4 bytes), then padding.
 */
final class FanOutValue {
  private static final int RESPONSE_CREATED = 3;
  private static final int RESPONSE_EVENTS = 11;
  private static final int EVENT_KV = 2;
  private static final int KV_VALUE = 5;

  /** Receives each event of a watch response, in order. */
  interface Events {
    void event(int writer, int sequence);
  }

  private FanOutValue() {}

  static byte[] put(ByteString key, int writer, int sequence, int valueBytes) {
    ByteBuffer value = ByteBuffer.allocate(valueBytes).putInt(writer).putInt(sequence).rewind();
    return PutRequest.newBuilder()
        .setKey(key)
        .setValue(ByteString.copyFrom(value))
        .build()
        .toByteArray();
  }

  /**
   * Reads the part of an encoded watch response that the profile needs.
   *
   * @return whether the response confirms the creation of a watcher
   * @throws IOException if it is not a watch response
   */
  static boolean read(ByteString response, Events events) throws IOException {
    CodedInputStream in = response.newCodedInput();
    boolean created = false;
    int tag;
    while ((tag = in.readTag()) != 0) {
      int field = WireFormat.getTagFieldNumber(tag);
      if (field == RESPONSE_EVENTS) {
        int limit = in.pushLimit(in.readRawVarint32());
        readEvent(in, events);
        in.popLimit(limit);
      } else if (field == RESPONSE_CREATED) {
        created = in.readBool();
      } else {
        in.skipField(tag);
      }
    }
    return created;
  }

  private static void readEvent(CodedInputStream in, Events events) throws IOException {
    int tag;
    while ((tag = in.readTag()) != 0) {
      if (WireFormat.getTagFieldNumber(tag) == EVENT_KV) {
        int limit = in.pushLimit(in.readRawVarint32());
        readKeyValue(in, events);
        in.popLimit(limit);
      } else {
        in.skipField(tag);
      }
    }
  }

  private static void readKeyValue(CodedInputStream in, Events events) throws IOException {
    int tag;
    while ((tag = in.readTag()) != 0) {
      if (WireFormat.getTagFieldNumber(tag) == KV_VALUE) {
        int length = in.readRawVarint32();
        int writer = Integer.reverseBytes(in.readRawLittleEndian32());
        int sequence = Integer.reverseBytes(in.readRawLittleEndian32());
        in.skipRawBytes(length - 8);
        events.event(writer, sequence);
      } else {
        in.skipField(tag);
      }
    }
  }
}
