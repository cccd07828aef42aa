package io.troupe.bench.load;

import com.google.protobuf.ByteString;
import io.troupe.grpc.api.PutRequest;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Values that identify their put: writer (4 bytes) and its sequence number (4 bytes), then padding.
 */
final class FanOutValue {

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
   * @throws IOException if it is not a watch response, or ends a watcher
   */
  static boolean read(ByteString response, Events events) throws IOException {
    Reader reader = new Reader(events);
    WatchEvents.read(response, reader);
    if (reader.canceled) {
      throw new IOException("the server canceled a watcher");
    }
    return reader.created;
  }

  private static final class Reader implements WatchEvents.Receiver {
    private final Events events;
    private boolean created;
    private boolean canceled;

    Reader(Events events) {
      this.events = events;
    }

    @Override
    public void event(WatchEvents.Event event) {
      events.event((int) (event.mark() >>> Integer.SIZE), (int) event.mark());
    }

    @Override
    public void created() {
      created = true;
    }

    @Override
    public void canceled() {
      canceled = true;
    }
  }
}
