package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.Requests.get;
import static io.troupe.tests.conformance.Requests.put;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.troupe.grpc.api.WatchRequest;
import io.troupe.testing.LoggedLines;
import io.troupe.tests.conformance.RawHttp2.Outcome;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Clients that send zero or several messages for a call with one request, and continue to send
 * after the response. Only their own call may fail.
 */
class OneRequestConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  private static final String INTERNAL = "13";

  /** More bytes than a request may have. */
  private static final int TOO_MUCH = 3 << 20;

  /** The created response of a watch is smaller. */
  private static final int MOST_OF_CREATED = 1000;

  private final LoggedLines log = new LoggedLines();

  @AfterEach
  void noErrorsAreLogged() {
    log.close();
    assertThat(log.lines()).noneMatch(line -> line.getLevel().isGreaterOrEqual(Level.ERROR));
  }

  private static byte[] everything() {
    return Requests.prefix(STORE.key("")).build().toByteArray();
  }

  /** 300 kB in three keys: more than a client accepts without enlarging a window. */
  private static void fill() {
    for (int i = 0; i < 3; i++) {
      STORE.client().put(put(STORE.key("large-" + i), "x".repeat(100_000)));
    }
  }

  private static void othersAreServed(RawHttp2 connection) {
    int stream = connection.call("etcdserverpb.KV/Range", Map.of());
    connection.message(stream, get(STORE.key("a")).build().toByteArray(), true);
    assertThat(connection.outcome(stream).status()).isEqualTo("0");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "etcdserverpb.KV/RangeStream",
        "v3electionpb.Election/Observe",
        "grpc.health.v1.Health/Watch"
      })
  void secondAndMissingRequestsAreRefused(String method) {
    STORE.needs37();
    try (RawHttp2 connection = RawHttp2.connect(STORE.target())) {
      int two = connection.call(method, Map.of());
      connection.message(two, new byte[0], false);
      connection.message(two, new byte[0], false);
      assertThat(connection.outcome(two))
          .isEqualTo(
              new Outcome(
                  INTERNAL,
                  "cardinality violation: received multiple request messages for"
                      + " non-client-streaming RPC",
                  0));
      int none = connection.call(method, Map.of());
      connection.end(none);
      assertThat(connection.outcome(none))
          .isEqualTo(
              new Outcome(
                  INTERNAL,
                  "cardinality violation: received no request message from"
                      + " non-client-streaming RPC",
                  0));
      othersAreServed(connection);
    }
  }

  /** Fixed: the HTTP layer failed, and with it all calls of the connection. */
  @Test
  void extraMessagesAfterOnlyRequestEndCall() {
    STORE.needs37();
    fill();
    try (RawHttp2 connection = RawHttp2.connect(STORE.target())) {
      int other = connection.watch(STORE.key("other"));
      int stream = connection.call("etcdserverpb.KV/RangeStream", Map.of());
      // Responses wait for the window of the connection.
      connection.widenWindow(stream, 1 << 20);
      connection.message(stream, everything(), false);
      connection.zeros(stream, TOO_MUCH);
      connection.widenWindow(0, 1 << 20);
      assertThat(connection.outcome(stream).status()).isEqualTo(INTERNAL);
      STORE.client().put(put(STORE.key("other"), "1"));
      connection.await(frame -> frame.stream() == other && frame.type() == RawHttp2.DATA);
      othersAreServed(connection);
    }
  }

  /** The responses wait for a window when the call is refused; the status follows them. */
  @Test
  void malformedMessageFailsOnlyThatWatch() {
    fill();
    long first = STORE.client().record(STORE.key("large-0")).getModRevision();
    try (RawHttp2 connection = RawHttp2.connect(STORE.target())) {
      int stream = connection.call("etcdserverpb.Watch/Watch", Map.of());
      connection.widenWindow(stream, 1 << 20);
      connection.message(
          stream,
          WatchRequest.newBuilder()
              .setCreateRequest(
                  Requests.watch(STORE.key("large-0")).setStartRevision(first).build())
              .build()
              .toByteArray(),
          false);
      // The created response, and the part of the event that fits in the window.
      connection.await(
          frame -> frame.stream() == stream && frame.payload().size() > MOST_OF_CREATED);
      connection.message(stream, new byte[] {-1, -1, -1}, false);
      connection.zeros(stream, TOO_MUCH);
      connection.widenWindow(0, 1 << 20);
      assertThat(connection.outcome(stream).status()).isEqualTo(INTERNAL);
      othersAreServed(connection);
    }
  }
}
