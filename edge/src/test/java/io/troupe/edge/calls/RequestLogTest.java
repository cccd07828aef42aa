package io.troupe.edge.calls;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import com.google.protobuf.ByteString;
import io.troupe.grpc.api.AuthenticateRequest;
import io.troupe.grpc.api.MemberRemoveRequest;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.RequestOp;
import io.troupe.grpc.api.TxnRequest;
import io.troupe.grpc.api.mvcc.KeyValue;
import io.troupe.model.Bytes;
import io.troupe.testing.LoggedLines;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** etcd's "request stats". */
class RequestLogTest {
  private static final Instant END = Instant.parse("2026-01-01T00:00:01Z");

  private final RequestLog log =
      new RequestLog(Duration.ofMillis(300), Clock.fixed(END, ZoneOffset.UTC));

  private RequestLog.Ended range() {
    RangeRequest request =
        RangeRequest.newBuilder().setKey(ByteString.copyFromUtf8("foo")).setLimit(2).build();
    return new RequestLog.Ended(
        "/etcdserverpb.KV/Range",
        null,
        "127.0.0.1:4711",
        Bytes.wrap(request.toByteArray()),
        request.getSerializedSize(),
        RangeResponse.newBuilder().addKvs(KeyValue.getDefaultInstance()).build(),
        40,
        0);
  }

  @Test
  void slowCallIsWarningWithEtcdFields() {
    try (LoggedLines said = new LoggedLines(RequestLog.class, Level.INFO)) {
      assertThat(log.wants(Duration.ofMillis(300).toNanos())).isFalse();
      assertThat(log.wants(Duration.ofMillis(301).toNanos())).isTrue();
      log.ended(range(), Duration.ofMillis(301).toNanos());
      assertThat(said.lines()).hasSize(1);
      assertThat(said.lines().get(0).getLevel()).isEqualTo(Level.WARN);
      assertThat(said.lines().get(0).getMessage()).isEqualTo("request stats");
      assertThat(LoggedLines.pairs(said.lines().get(0)))
          .containsEntry("start time", END.minusMillis(301))
          .containsEntry("time spent", Duration.ofMillis(301))
          .containsEntry("remote", "127.0.0.1:4711")
          .containsEntry("response type", "/etcdserverpb.KV/Range")
          .containsEntry("response count", 1L)
          .containsEntry("response size", 40)
          .containsEntry("request size", 7);
    }
  }

  @Test
  void eachCallIsLoggedAtDebugLevel() {
    try (LoggedLines said = new LoggedLines(RequestLog.class, Level.DEBUG)) {
      assertThat(log.wants(1)).isTrue();
      log.ended(range(), 1);
      log.ended(range(), 1);
      assertThat(said.lines()).hasSize(2).allMatch(line -> line.getLevel() == Level.DEBUG);
      Map<String, Object> pairs = LoggedLines.pairs(said.lines().get(0));
      assertThat(pairs).containsEntry("time spent", Duration.ofNanos(1));
    }
  }

  @Test
  void valuesAreLoggedAsSizesAndSecretsAreOmitted() {
    PutRequest put =
        PutRequest.newBuilder()
            .setKey(ByteString.copyFrom(new byte[] {'k', 0, (byte) 255}))
            .setValue(ByteString.copyFromUtf8("secret"))
            .setLease(5)
            .build();
    assertThat(RequestContent.of(PutRequest.getDescriptor(), Bytes.wrap(put.toByteArray())))
        .isEqualTo("key:\"k\\000\\377\" value_size:6 lease:5");
    TxnRequest txn =
        TxnRequest.newBuilder().addSuccess(RequestOp.newBuilder().setRequestPut(put)).build();
    assertThat(RequestContent.of(TxnRequest.getDescriptor(), Bytes.wrap(txn.toByteArray())))
        .startsWith("success:<request_put:<key:")
        .doesNotContain("secret");
    AuthenticateRequest login =
        AuthenticateRequest.newBuilder().setName("root").setPassword("secret").build();
    assertThat(
            RequestContent.of(AuthenticateRequest.getDescriptor(), Bytes.wrap(login.toByteArray())))
        .isEqualTo("name:\"root\"");
  }

  @Test
  void memberIdsAreUnsigned() {
    MemberRemoveRequest remove =
        MemberRemoveRequest.newBuilder().setID(0xbdae9bbc11dd390dL).build();
    assertThat(
            RequestContent.of(
                MemberRemoveRequest.getDescriptor(), Bytes.wrap(remove.toByteArray())))
        .isEqualTo("ID:13668033151171901709");
    PutRequest put = PutRequest.newBuilder().setLease(-5).build();
    assertThat(RequestContent.of(PutRequest.getDescriptor(), Bytes.wrap(put.toByteArray())))
        .isEqualTo("lease:-5");
  }

  @Test
  void longContentIsTruncatedAndMalformedContentIsEmpty() {
    byte[] key = new byte[3000];
    PutRequest put = PutRequest.newBuilder().setKey(ByteString.copyFrom(key)).build();
    assertThat(RequestContent.of(PutRequest.getDescriptor(), Bytes.wrap(put.toByteArray())))
        .hasSize(1027)
        .endsWith("...");
    assertThat(RequestContent.of(PutRequest.getDescriptor(), Bytes.of(0x0a, 0x7f, 1))).isEmpty();
  }
}
