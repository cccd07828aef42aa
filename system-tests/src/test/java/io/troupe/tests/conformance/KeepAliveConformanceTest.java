package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.tests.conformance.RawHttp2.Frame;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** T4 with non-default times. */
@Timeout(60)
class KeepAliveConformanceTest {
  private static final String RANGE = "etcdserverpb.KV/Range";

  @RegisterExtension
  static final ServedStore STORE =
      ServedStore.create()
          .with("grpc-keepalive-min-time", "0 ms")
          .with("grpc-keepalive-interval", "300 ms")
          .with("grpc-keepalive-timeout", "200 ms");

  private static boolean isPing(Frame frame) {
    return frame.type() == RawHttp2.PING && frame.flags() == 0;
  }

  @Test
  void idleClientThatAcknowledgesPingsStaysConnected_T4() {
    try (RawHttp2 connection = RawHttp2.connect(STORE.target())) {
      connection.watch(STORE.key("a"));
      for (int i = 0; i < 4; i++) {
        connection.await(KeepAliveConformanceTest::isPing);
      }
      int stream = connection.call(RANGE, Map.of());
      connection.message(stream, Requests.get(STORE.key("a")).build().toByteArray(), true);
      connection.await(frame -> frame.stream() == stream && frame.type() == RawHttp2.DATA);
    }
  }

  @Test
  void clientWithoutPingAcknowledgementIsDisconnected_T4() {
    try (RawHttp2 connection = RawHttp2.connect(STORE.target())) {
      connection.watch(STORE.key("a"));
      connection.answersNoPings();
      Frame end = connection.await(frame -> frame.type() == RawHttp2.GOAWAY);
      assertThat(end.debugData()).isEqualTo("Ping ack timeout");
      connection.expectClosed();
    }
  }

  @Test
  void minimumPingIntervalIsConfigurable_T4() {
    try (RawHttp2 connection = RawHttp2.connect(STORE.target())) {
      connection.watch(STORE.key("a"));
      for (int i = 0; i < 20; i++) {
        connection.pingAndWait();
      }
    }
  }
}
