package io.troupe.edge.calls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.MemoryBudget;
import io.troupe.protocol.RefusedException;
import io.troupe.server.Call;
import io.troupe.server.CallTrace;
import io.troupe.server.ReplyExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** T5. */
class CallMetadataTest {
  private static final BooleanSupplier WAITS = Boolean.FALSE::booleanValue;
  private static final ReplyExecutor DIRECT = Runnable::run;
  private static final MemoryBudget.Share MEMORY = MemoryBudget.UNLIMITED.share();

  private static Call call(String... namesAndValues) {
    List<HttpHeader> headers = new ArrayList<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      headers.add(RawHeader.create(namesAndValues[i], namesAndValues[i + 1]));
    }
    return withCertificate(null, headers);
  }

  private static Call withCertificate(@Nullable String name, List<HttpHeader> headers) {
    return CallMetadata.of(
        HttpRequest.create().withHeaders(headers).getHeaders(),
        name,
        MEMORY,
        WAITS,
        DIRECT,
        CallTrace.NONE);
  }

  @Test
  void gatewayCertificateIsIgnored() {
    assertThat(withCertificate("root", List.of()).certificateUser()).isEqualTo("root");
    List<HttpHeader> gateway = List.of(RawHeader.create("grpcgateway-accept", "*/*"));
    assertThat(withCertificate("root", gateway).certificateUser()).isNull();
    assertThat(withCertificate("", List.of()).certificateUser()).isEmpty();
  }

  @Test
  void callWithoutMetadataHasDefaults() {
    assertThat(call())
        .isEqualTo(
            new Call(
                null, false, Optional.empty(), "", MEMORY, WAITS, null, DIRECT, CallTrace.NONE));
  }

  @Test
  void tokenPrecedesAuthorizationAndBearerIsStripped() {
    assertThat(call("token", "a.1").token()).isEqualTo("a.1");
    assertThat(call("token", "Bearer a.1").token()).isEqualTo("a.1");
    assertThat(call("authorization", "Bearer b.2").token()).isEqualTo("b.2");
    assertThat(call("authorization", "b.2").token()).isEqualTo("b.2");
    assertThat(call("authorization", "Bearer b.2", "token", "a.1").token()).isEqualTo("a.1");
    assertThat(call("token", "bearer a.1").token()).isEqualTo("bearer a.1");
  }

  @Test
  void emptyTokenIsNotNull_A3() {
    assertThat(call("token", "").token()).isEmpty();
    assertThat(call("authorization", "").token()).isEmpty();
    assertThat(call("authorization", "Bearer ").token()).isEmpty();
    assertThat(call("authorization", "Bearer b.2", "token", "").token()).isEmpty();
  }

  @Test
  void hasLeaderRequiresTrue() {
    assertThat(call("hasleader", "true").hasLeader()).isTrue();
    assertThat(call("hasleader", "yes").hasLeader()).isFalse();
  }

  @Test
  void timeoutIsParsed() {
    assertThat(call("grpc-timeout", "3S").timeout()).contains(Duration.ofSeconds(3));
  }

  /** Timers accept each of them, also in nanoseconds. */
  @Test
  void longestTimeoutOfEachUnitIsBounded() {
    for (char unit : "HMSmun".toCharArray()) {
      Duration timeout = call("grpc-timeout", "99999999" + unit).timeout().orElseThrow();
      assertThat(timeout).isBetween(Duration.ofNanos(99_999_999), Duration.ofDays(100));
      assertThat(timeout.toNanos()).isPositive();
    }
    assertThat(call("grpc-timeout", "0n").timeout()).contains(Duration.ZERO);
  }

  /** In the form of the HTTP layer: one character for each byte, its sign extended or not. */
  @Test
  void versionMustBeUtf8() {
    call("client-api-version", "3.7");
    call("client-api-version", "\uffc3\uffa9");
    call("client-api-version", "\u00c3\u00a9");
    for (String broken : new String[] {"\uffc3", "\u00ff", "3\uffa9"}) {
      assertThatThrownBy(() -> call("client-api-version", broken))
          .isInstanceOf(RefusedException.class)
          .hasMessage("INVALID_CLIENT_API_VERSION");
    }
  }
}
