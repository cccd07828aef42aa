package io.troupe.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.ResponseHeader;
import io.troupe.grpc.api.WatchResponse;
import io.troupe.grpc.api.mvcc.Event;
import io.troupe.grpc.api.mvcc.KeyValue;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FanOutValueTest {
  private static Event event(int writer, int sequence) throws IOException {
    ByteString key = ByteString.copyFromUtf8("watched/" + writer);
    PutRequest put = PutRequest.parseFrom(FanOutValue.put(key, writer, sequence, 256));
    assertThat(put.getKey()).isEqualTo(key);
    assertThat(put.getValue().size()).isEqualTo(256);
    return Event.newBuilder()
        .setKv(
            KeyValue.newBuilder()
                .setKey(key)
                .setModRevision(7)
                .setVersion(3)
                .setValue(put.getValue())
                .setLease(1))
        .build();
  }

  @Test
  void readsWriterAndSequenceOfEveryEventInOrder() throws IOException {
    WatchResponse response =
        WatchResponse.newBuilder()
            .setHeader(ResponseHeader.newBuilder().setRevision(9))
            .setWatchId(4)
            .addEvents(event(3, 1_000_000))
            .addEvents(event(0, 1))
            .build();
    List<String> seen = new ArrayList<>();
    boolean created =
        FanOutValue.read(
            response.toByteString(), (writer, sequence) -> seen.add(writer + ":" + sequence));
    assertThat(created).isFalse();
    assertThat(seen).containsExactly("3:1000000", "0:1");
  }

  @Test
  void reportsCreatedWatcher() throws IOException {
    ByteString created =
        WatchResponse.newBuilder().setWatchId(1).setCreated(true).build().toByteString();
    assertThat(FanOutValue.read(created, (writer, sequence) -> {})).isTrue();
  }
}
