package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.Requests.get;
import static io.troupe.tests.conformance.Requests.put;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.tests.conformance.RawHttp2.Frame;
import io.troupe.tests.conformance.RawHttp2.Outcome;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** T4 and T5 with frames that no client library sends. */
class ConnectionConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  private static final String RANGE = "etcdserverpb.KV/Range";
  private static final String WATCH = "etcdserverpb.Watch/Watch";

  private static Map<String, byte[]> version(byte... value) {
    return Map.of("client-api-version", value);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static void range(RawHttp2 connection) {
    int stream = connection.call(RANGE, Map.of());
    connection.message(stream, get(STORE.key("a")).build().toByteArray(), true);
    assertThat(connection.outcome(stream).status()).isEqualTo("0");
  }

  private static void expectTooManyPings(RawHttp2 connection) {
    Frame end = connection.await(frame -> frame.type() == RawHttp2.GOAWAY);
    assertThat(end.errorCode()).isEqualTo(RawHttp2.ENHANCE_YOUR_CALM);
    assertThat(end.debugData()).isEqualTo("too_many_pings");
    connection.expectClosed();
  }

  @Test
  void http1PathsAreNotServedOverHttp2_T2() {
    try (RawHttp2 connection = RawHttp2.connect(STORE.target())) {
      for (String path : new String[] {"/version", "/health", "/metrics"}) {
        assertThat(connection.httpStatus(connection.get(path))).as(path).isNotEqualTo("200");
      }
      range(connection);
    }
  }

  @Test
  void thirdEarlyPingClosesConnection_T4() {
    try (RawHttp2 connection = RawHttp2.connect(STORE.target())) {
      for (int i = 0; i < 3; i++) {
        connection.pingAndWait();
      }
      connection.ping();
      expectTooManyPings(connection);
    }
  }

  @Test
  void openStreamAllowsPingEveryFiveSeconds_T4() {
    try (RawHttp2 connection = RawHttp2.connect(STORE.target())) {
      connection.watch(STORE.key("a"));
      for (int i = 0; i < 3; i++) {
        connection.pingAndWait();
      }
      connection.ping();
      expectTooManyPings(connection);
    }
  }

  @Test
  void serverFramesResetPingStrikes_T4() {
    try (RawHttp2 connection = RawHttp2.connect(STORE.target())) {
      for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 3; i++) {
          connection.pingAndWait();
        }
        range(connection);
      }
      int watch = connection.watch(STORE.key("a"));
      for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 3; i++) {
          connection.pingAndWait();
        }
        STORE.client().put(put(STORE.key("a"), "event " + round));
        connection.await(frame -> frame.stream() == watch && frame.type() == RawHttp2.DATA);
      }
      for (int i = 0; i < 3; i++) {
        connection.pingAndWait();
      }
      connection.ping();
      expectTooManyPings(connection);
    }
  }

  /** RFC 9113 section 6.9.1: a window above 2^31-1 bytes is a connection error. */
  @Test
  void windowAboveLimitClosesConnectionWithError() {
    try (RawHttp2 connection = RawHttp2.connect(STORE.target())) {
      connection.widenWindow(0, Integer.MAX_VALUE - 65_535);
      range(connection);
      // The client may return the bytes that the call used, and no more.
      connection.widenWindow(0, 1 << 30);
      Frame end = connection.await(frame -> frame.type() == RawHttp2.GOAWAY);
      assertThat(end.errorCode()).isEqualTo(RawHttp2.FLOW_CONTROL_ERROR);
      connection.expectClosed();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "etcdserverpb.KV/Range",
        "etcdserverpb.KV/RangeStream",
        "etcdserverpb.KV/Put",
        "etcdserverpb.KV/DeleteRange",
        "etcdserverpb.KV/Txn",
        "etcdserverpb.KV/Compact",
        "etcdserverpb.Watch/Watch",
        "etcdserverpb.Lease/LeaseGrant",
        "etcdserverpb.Lease/LeaseRevoke",
        "etcdserverpb.Lease/LeaseKeepAlive",
        "etcdserverpb.Lease/LeaseTimeToLive",
        "etcdserverpb.Lease/LeaseLeases",
        "etcdserverpb.Cluster/MemberList",
        "etcdserverpb.Maintenance/Alarm",
        "etcdserverpb.Maintenance/Status",
        "etcdserverpb.Maintenance/Defragment",
        "etcdserverpb.Maintenance/Hash",
        "etcdserverpb.Maintenance/HashKV",
        "grpc.health.v1.Health/Check",
        "grpc.health.v1.Health/Watch"
      })
  void nonAsciiClientApiVersionIsRefused_T5(String method) {
    if (method.endsWith("RangeStream")) {
      STORE.needs37();
    }
    try (RawHttp2 connection = RawHttp2.connect(STORE.target())) {
      int stream = connection.call(method, version((byte) '3', (byte) 0xff, (byte) 0xfe));
      connection.message(stream, new byte[0], true);
      assertThat(connection.outcome(stream))
          .isEqualTo(new Outcome("3", "etcdserver: invalid client api version", 0));
      range(connection);
    }
  }

  @Test
  void refusedStreamEndsWhileClientSideIsOpen_T5() {
    try (RawHttp2 connection = RawHttp2.connect(STORE.target())) {
      int stream = connection.call(WATCH, version((byte) 0xc3));
      connection.message(stream, new byte[0], false);
      assertThat(connection.outcome(stream))
          .isEqualTo(new Outcome("3", "etcdserver: invalid client api version", 0));
    }
  }

  @Test
  void clientApiVersionMayBeAnyText_T5() {
    try (RawHttp2 connection = RawHttp2.connect(STORE.target())) {
      for (String text : new String[] {"3.7", "", "v3 für Spätere", "世界", "\ud83d\ude00"}) {
        int stream = connection.call(RANGE, version(utf8(text)));
        connection.message(stream, get(STORE.key("a")).build().toByteArray(), true);
        assertThat(connection.outcome(stream).status()).as(text).isEqualTo("0");
      }
    }
  }

  /** Overlong forms, surrogates, code points above Unicode, and truncated sequences. */
  @ParameterizedTest
  @ValueSource(strings = {"c080", "eda080", "f4908080", "80", "e4b8", "33ff"})
  void invalidUtf8MetadataIsRefused_T5(String hex) {
    byte[] value = HexFormat.of().parseHex(hex);
    try (RawHttp2 connection = RawHttp2.connect(STORE.target())) {
      int stream = connection.call(RANGE, version(value));
      connection.message(stream, get(STORE.key("a")).build().toByteArray(), true);
      assertThat(connection.outcome(stream).status()).isEqualTo("3");
    }
  }
}
