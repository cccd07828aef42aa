package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors;
import com.google.protobuf.DynamicMessage;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.troupe.grpc.api.RpcProto;
import io.troupe.grpc.api.StatusRequest;
import io.troupe.grpc.api.backup.BackupProto;
import io.troupe.grpc.api.election.ElectionProto;
import io.troupe.grpc.api.health.HealthProto;
import io.troupe.grpc.api.lock.LockProto;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Section 2.12: the responses of a learner for every method. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LearnerConformanceTest {
  private static final String TEXT = "etcdserver: rpc not supported for learner";

  /** The methods that LN1 and LN2 except; Range depends on its request. */
  private static final Set<String> SERVED =
      Set.of(
          "etcdserverpb.Maintenance.Status",
          "etcdserverpb.Maintenance.Snapshot",
          "etcdserverpb.KV.Range");

  private final LearnerCluster cluster;
  private final ApiClient client;

  LearnerConformanceTest(@TempDir Path directory) throws InterruptedException {
    cluster = new LearnerCluster(directory);
    client = cluster.client(1);
  }

  @BeforeAll
  void join() throws InterruptedException {
    ApiClient first = cluster.client(0);
    first.put("k", "v");
    cluster.addLearner(first);
    cluster.startLearner();
  }

  @AfterAll
  void close() throws Exception {
    cluster.close();
  }

  static List<Descriptors.MethodDescriptor> refused() {
    return Stream.of(
            RpcProto.getDescriptor(),
            ElectionProto.getDescriptor(),
            LockProto.getDescriptor(),
            HealthProto.getDescriptor(),
            BackupProto.getDescriptor())
        .flatMap(file -> file.getServices().stream())
        .flatMap(service -> service.getMethods().stream())
        .filter(method -> !SERVED.contains(method.getFullName()))
        .toList();
  }

  private static MethodDescriptor<DynamicMessage, DynamicMessage> method(
      Descriptors.MethodDescriptor method) {
    MethodType type =
        method.isClientStreaming()
            ? MethodType.BIDI_STREAMING
            : method.isServerStreaming() ? MethodType.SERVER_STREAMING : MethodType.UNARY;
    return MethodDescriptor.<DynamicMessage, DynamicMessage>newBuilder()
        .setType(type)
        .setFullMethodName(
            MethodDescriptor.generateFullMethodName(
                method.getService().getFullName(), method.getName()))
        .setRequestMarshaller(marshaller(method.getInputType()))
        .setResponseMarshaller(marshaller(method.getOutputType()))
        .build();
  }

  private static MethodDescriptor.Marshaller<DynamicMessage> marshaller(
      Descriptors.Descriptor type) {
    return ProtoUtils.marshaller(DynamicMessage.getDefaultInstance(type));
  }

  /** The status of a call with one empty message. */
  private static Status end(Channel channel, Descriptors.MethodDescriptor method) {
    StreamResponses<DynamicMessage> answers = new StreamResponses<>();
    var call =
        channel.newCall(
            method(method), CallOptions.DEFAULT.withDeadlineAfter(30, TimeUnit.SECONDS));
    DynamicMessage empty = DynamicMessage.getDefaultInstance(method.getInputType());
    if (method.isClientStreaming()) {
      ClientCalls.asyncBidiStreamingCall(call, answers).onNext(empty);
    } else if (method.isServerStreaming()) {
      ClientCalls.asyncServerStreamingCall(call, empty, answers);
    } else {
      ClientCalls.asyncUnaryCall(call, empty, answers);
    }
    Status end = answers.end();
    assertThat(answers.poll()).isEmpty();
    return end;
  }

  @ParameterizedTest
  @MethodSource("refused")
  void everyOtherMethodIsRefused_LN1_LN2(Descriptors.MethodDescriptor method) {
    Status end = end(client.channel(), method);
    assertThat(end.getDescription()).isEqualTo(TEXT);
    assertThat(end.getCode()).isEqualTo(Code.FAILED_PRECONDITION);
  }

  @Test
  void statusAndSerializableRangesAreServed_LN1() {
    assertThat(client.call(Api.STATUS, StatusRequest.getDefaultInstance()).getIsLearner()).isTrue();
    ServedStore.await()
        .until(
            () ->
                client.call(Api.RANGE, Requests.get("k").setSerializable(true).build()).getCount()
                    == 1);
    client.refused(Api.RANGE, Requests.get("k").build(), Code.FAILED_PRECONDITION, TEXT);
    client.refused(
        Api.TXN,
        Requests.txn(Requests.op(Requests.get("k").setSerializable(true))).build(),
        Code.FAILED_PRECONDITION,
        TEXT);
  }

  @Test
  void learnerRefusesOverHttp_LN1() {
    HttpResponse<String> put = cluster.http(1).post("/v3/kv/put", "{\"key\":\"aw==\"}");
    assertThat(put.statusCode()).isEqualTo(400);
    assertThat(put.body()).isEqualTo("{\"code\":9,\"message\":\"" + TEXT + "\"}");
    HttpResponse<String> range =
        cluster.http(1).post("/v3/kv/range", "{\"key\":\"aw==\",\"serializable\":true}");
    assertThat(range.statusCode()).isEqualTo(200);
  }

  @Test
  void onlyReadinessFails_LN3() {
    HttpResponse<String> ready = cluster.http(1).get("/readyz");
    assertThat(ready.statusCode()).isEqualTo(503);
    assertThat(ready.body()).contains("[-]non_learner failed: not supported for learner\n");
    assertThat(cluster.http(1).get("/readyz/non_learner").statusCode()).isEqualTo(503);
    assertThat(cluster.http(1).get("/livez").statusCode()).isEqualTo(200);
    HttpResponse<String> health = cluster.http(1).get("/health");
    assertThat(health.statusCode()).as(health.body()).isEqualTo(200);
    assertThat(health.body()).isEqualTo("{\"health\":\"true\",\"reason\":\"\"}");
    assertThat(cluster.http(0).get("/readyz").statusCode()).isEqualTo(200);
  }
}
