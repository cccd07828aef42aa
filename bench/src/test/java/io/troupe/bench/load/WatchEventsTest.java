package io.troupe.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.troupe.grpc.api.WatchResponse;
import io.troupe.grpc.api.mvcc.Event;
import io.troupe.grpc.api.mvcc.KeyValue;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WatchEventsTest implements WatchEvents.Receiver {
  private final List<WatchEvents.Event> events = new ArrayList<>();
  private int created;
  private int canceled;

  @Override
  public void event(WatchEvents.Event event) {
    events.add(event);
  }

  @Override
  public void created() {
    created++;
  }

  @Override
  public void canceled() {
    canceled++;
  }

  private static KeyValue.Builder pair(long modRevision, long version) {
    return KeyValue.newBuilder()
        .setKey(ByteString.copyFromUtf8("k"))
        .setModRevision(modRevision)
        .setVersion(version);
  }

  @Test
  void readsEachEventWithItsMark() throws IOException {
    ByteString marked = ByteString.copyFrom(ByteBuffer.allocate(300).putLong(-77).rewind());
    ByteString response =
        WatchResponse.newBuilder()
            .setWatchId(3)
            .addEvents(Event.newBuilder().setKv(pair(9, 1).setValue(marked).setLease(5)))
            .addEvents(
                Event.newBuilder()
                    .setType(Event.EventType.DELETE)
                    .setKv(pair(10, 0))
                    .setPrevKv(pair(9, 1).setValue(marked)))
            .addEvents(
                Event.newBuilder().setKv(pair(11, 1).setValue(ByteString.copyFromUtf8("short"))))
            .build()
            .toByteString();
    WatchEvents.read(response, this);
    assertThat(events)
        .containsExactly(
            new WatchEvents.Event(false, 9, 1, -77, false),
            new WatchEvents.Event(true, 10, 0, 0, true),
            new WatchEvents.Event(false, 11, 1, 0, false));
    assertThat(created + canceled).isZero();
  }

  @Test
  void reportsCreationAndCancellation() throws IOException {
    WatchEvents.read(WatchResponse.newBuilder().setCreated(true).build().toByteString(), this);
    assertThat(created).isEqualTo(1);
    WatchEvents.read(
        WatchResponse.newBuilder().setCanceled(true).setCompactRevision(7).build().toByteString(),
        this);
    assertThat(canceled).isEqualTo(1);
    assertThat(events).isEmpty();
  }

  @Test
  void rejectsBytesThatAreNoResponse() {
    ByteString cut = ByteString.copyFrom(new byte[] {0x5a, 0x40, 0x12});
    assertThatThrownBy(() -> WatchEvents.read(cut, this)).isInstanceOf(IOException.class);
  }
}
