package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.stub.ClientCalls;
import io.troupe.grpc.api.DefragmentRequest;
import io.troupe.grpc.api.health.HealthCheckRequest;
import io.troupe.grpc.api.health.HealthCheckResponse;
import io.troupe.grpc.api.health.HealthCheckResponse.ServingStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** MT5 with the feature StopGRPCServiceOnDefrag: health is not serving during a defragmentation. */
class HealthDuringDefragTest {
  @RegisterExtension
  static final ServedStore STORE =
      ServedStore.create().with("feature-gates", "StopGRPCServiceOnDefrag=true");

  private final ApiClient client = STORE.client();

  @Test
  void healthIsNotServingDuringDefragment_MT5() {
    client.put(STORE.key("a"), "1");
    ClientCall<HealthCheckRequest, HealthCheckResponse> call =
        client.channel().newCall(Api.HEALTH_WATCH, CallOptions.DEFAULT);
    StreamResponses<HealthCheckResponse> answers = new StreamResponses<>();
    ClientCalls.asyncServerStreamingCall(call, HealthCheckRequest.getDefaultInstance(), answers);
    assertThat(answers.next().getStatus()).isEqualTo(ServingStatus.SERVING);
    client.call(Api.DEFRAGMENT, DefragmentRequest.getDefaultInstance());
    assertThat(answers.next().getStatus()).isEqualTo(ServingStatus.NOT_SERVING);
    assertThat(answers.next().getStatus()).isEqualTo(ServingStatus.SERVING);
    assertThat(client.call(Api.HEALTH_CHECK, HealthCheckRequest.getDefaultInstance()).getStatus())
        .isEqualTo(ServingStatus.SERVING);
    assertThat(client.get(STORE.key("a")).getCount()).as("it serves").isEqualTo(1);
    call.cancel("test is over", null);
  }
}
