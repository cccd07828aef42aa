package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.WatchCreateRequest;
import io.troupe.node.tracing.TestCollector;
import io.troupe.node.tracing.TestCollector.Span;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Spans that a collector receives for calls to a real member. The sampling rate is 0, so each test
 * has its own trace and the collector receives nothing else.
 */
class TracedCallsTest {
  private static final TestCollector COLLECTOR = TestCollector.start();
  private static final String CALLER = "b7ad6b7169203331";
  private static final Metadata.Key<String> TRACEPARENT =
      Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER);

  @RegisterExtension
  static final ServedStore STORE =
      ServedStore.create()
          .with("tracing.enabled", "true")
          .with("tracing.address", COLLECTOR.address())
          .with("tracing.service-name", "shop")
          .with("tracing.sampling-rate", "0");

  private String trace = "";

  @AfterAll
  static void closeCollector() {
    COLLECTOR.close();
  }

  @BeforeEach
  void newTrace() {
    byte[] id = new byte[16];
    ThreadLocalRandom.current().nextBytes(id);
    id[0] = 1;
    trace = HexFormat.of().formatHex(id);
  }

  private Metadata traced() {
    Metadata metadata = new Metadata();
    metadata.put(TRACEPARENT, "00-" + trace + "-" + CALLER + "-01");
    return metadata;
  }

  /** The call's span in the trace of this test, with all its child spans: it ends last. */
  private Span call(String name) {
    Span call =
        COLLECTOR.await(
            span -> span.traceId().equals(trace) && span.name().equals("etcdserverpb." + name));
    assertThat(call.parentId()).isEqualTo(CALLER);
    assertThat(call.kind()).isEqualTo(2);
    assertThat(call.resource()).containsEntry("service.name", "shop");
    assertThat(call.resource()).doesNotContainKey("service.instance.id");
    int slash = name.indexOf('/');
    assertThat(call.attributes())
        .containsEntry("rpc.system", "grpc")
        .containsEntry("rpc.service", "etcdserverpb." + name.substring(0, slash))
        .containsEntry("rpc.method", name.substring(slash + 1));
    return call;
  }

  private static List<Span> steps(Span call, String... names) {
    List<Span> steps = COLLECTOR.below(call);
    assertThat(steps).extracting(Span::name).containsExactlyInAnyOrder(names);
    assertThat(steps)
        .allSatisfy(
            step -> {
              assertThat(step.startNanos())
                  .isGreaterThanOrEqualTo(call.startNanos())
                  .isLessThanOrEqualTo(step.endNanos());
              assertThat(step.endNanos()).isLessThanOrEqualTo(call.endNanos());
            });
    return steps;
  }

  private static Span step(List<Span> steps, String name) {
    return steps.stream().filter(one -> one.name().equals(name)).findFirst().orElseThrow();
  }

  @Test
  void rateZeroTracesOnlyCallsWithSampledParent_F7() {
    int before = COLLECTOR.spans().size();
    for (int i = 0; i < 20; i++) {
      STORE.client().put(STORE.key("a"), "1");
      STORE.client().get(STORE.key("a"));
    }
    for (int i = 0; i < 5; i++) {
      STORE.client().call(Api.PUT, Requests.put(STORE.key("a"), "2").build(), traced());
    }
    ServedStore.await().until(() -> COLLECTOR.spans().size() >= before + 5 * 7);
    assertThat(COLLECTOR.spans().subList(before, COLLECTOR.spans().size()))
        .hasSize(5 * 7)
        .allSatisfy(span -> assertThat(span.traceId()).isEqualTo(trace));
  }

  @Test
  void writeHasSpanWithSteps() {
    PutRequest put = Requests.put(STORE.key("k"), "v").build();
    STORE.client().call(Api.PUT, put, traced());

    Span call = call("KV/Put");
    assertThat(call.attributes()).containsEntry("rpc.grpc.status_code", "0");
    List<Span> steps = steps(call, "queue", "propose", "fsync", "quorum", "apply", "answer");
    Span queue = step(steps, "queue");
    Span propose = step(steps, "propose");
    Span fsync = step(steps, "fsync");
    Span quorum = step(steps, "quorum");
    Span apply = step(steps, "apply");
    Span answer = step(steps, "answer");
    assertThat(propose.startNanos()).isEqualTo(queue.endNanos());
    assertThat(quorum.startNanos()).isEqualTo(queue.endNanos());
    assertThat(fsync.startNanos()).isEqualTo(propose.endNanos());
    // A single member has a quorum when its entry is durable.
    assertThat(fsync.endNanos()).isLessThanOrEqualTo(quorum.endNanos());
    assertThat(apply.startNanos()).isEqualTo(quorum.endNanos());
    assertThat(answer.startNanos()).isEqualTo(apply.endNanos());
  }

  @Test
  void linearizableReadHasSpanWithSteps() {
    STORE.client().put(STORE.key("k"), "v");
    RangeRequest get = Requests.get(STORE.key("k")).build();
    STORE.client().call(Api.RANGE, get, traced());

    List<Span> steps = steps(call("KV/Range"), "queue", "read index", "apply wait", "read");
    assertThat(step(steps, "read index").startNanos()).isEqualTo(step(steps, "queue").endNanos());
    assertThat(step(steps, "apply wait").startNanos())
        .isEqualTo(step(steps, "read index").endNanos());
    assertThat(step(steps, "read").startNanos())
        .isGreaterThanOrEqualTo(step(steps, "apply wait").endNanos());
  }

  @Test
  void serializableReadHasOnlyReadStep() {
    RangeRequest get = Requests.get(STORE.key("k")).setSerializable(true).build();
    STORE.client().call(Api.RANGE, get, traced());
    steps(call("KV/Range"), "read");
  }

  @Test
  void refusedCallHasStatusCode() {
    PutRequest put = PutRequest.getDefaultInstance();
    StatusRuntimeException refusal =
        Assertions.catchThrowableOfType(
            StatusRuntimeException.class, () -> STORE.client().call(Api.PUT, put, traced()));
    assertThat(refusal.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    Span call = call("KV/Put");
    assertThat(call.attributes()).containsEntry("rpc.grpc.status_code", "3");
    assertThat(call.status()).isZero();
    steps(call);
  }

  @Test
  void watchIsOneSpan() {
    try (WatchStream watch =
        new WatchStream(
            io.grpc.ClientInterceptors.intercept(
                STORE.client().channel(),
                io.grpc.stub.MetadataUtils.newAttachHeadersInterceptor(traced())))) {
      watch.create(WatchCreateRequest.newBuilder().setKey(Requests.bytes(STORE.key("w"))));
      STORE.client().put(STORE.key("w"), "1");
      watch.next();
    }
    Span call = call("Watch/Watch");
    // The client disconnected.
    assertThat(call.attributes()).containsEntry("rpc.grpc.status_code", "1");
    steps(call);
  }

  @Test
  void jsonCallIsTraced() {
    Http1 http = new Http1(STORE.target());
    String put =
        "{\"key\":\""
            + Base64.getEncoder().encodeToString(Requests.bytes(STORE.key("j")).toByteArray())
            + "\",\"value\":\"djE=\"}";
    assertThat(
            http.post("/v3/kv/put", put, "traceparent", "00-" + trace + "-" + CALLER + "-01")
                .statusCode())
        .isEqualTo(200);
    steps(call("KV/Put"), "queue", "propose", "fsync", "quorum", "apply", "answer");
  }
}
