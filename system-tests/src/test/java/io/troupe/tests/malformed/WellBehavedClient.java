package io.troupe.tests.malformed;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.AlarmMember;
import io.etcd.jetcd.api.AlarmRequest;
import io.etcd.jetcd.api.AlarmResponse;
import io.etcd.jetcd.api.AuthEnableRequest;
import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.AuthUserAddRequest;
import io.etcd.jetcd.api.AuthUserChangePasswordRequest;
import io.etcd.jetcd.api.AuthUserGrantRoleRequest;
import io.etcd.jetcd.api.AuthenticateRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.CallOptions;
import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.util.concurrent.TimeUnit;

/** A client that uses the member correctly throughout. One thread. */
final class WellBehavedClient implements AutoCloseable {
  private static final Metadata.Key<String> TOKEN =
      Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER);

  private final ManagedChannel channel;
  private final Metadata metadata = new Metadata();
  private long served;

  WellBehavedClient(int port, ChannelCredentials credentials) {
    channel =
        Grpc.newChannelBuilder("127.0.0.1:" + port, credentials)
            .intercept(MetadataUtils.newAttachHeadersInterceptor(metadata))
            .build();
  }

  private <Q, A> A call(MethodDescriptor<Q, A> method, Q request) {
    CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(20, TimeUnit.SECONDS);
    return ClientCalls.blockingUnaryCall(channel, method, options, request);
  }

  /**
   * A write and a read of it. Odd requests may have raised an alarm, so the client disarms first.
   */
  void isServed() {
    AlarmResponse raised =
        call(MaintenanceGrpc.getAlarmMethod(), AlarmRequest.getDefaultInstance());
    for (AlarmMember alarm : raised.getAlarmsList()) {
      call(
          MaintenanceGrpc.getAlarmMethod(),
          AlarmRequest.newBuilder()
              .setAction(AlarmRequest.AlarmAction.DEACTIVATE)
              .setMemberID(alarm.getMemberID())
              .setAlarmValue(alarm.getAlarmValue())
              .build());
    }
    ByteString key = ByteString.copyFromUtf8("customer");
    ByteString value = ByteString.copyFromUtf8(Long.toString(++served));
    call(KVGrpc.getPutMethod(), PutRequest.newBuilder().setKey(key).setValue(value).build());
    assertThat(
            call(KVGrpc.getRangeMethod(), RangeRequest.newBuilder().setKey(key).build())
                .getKvs(0)
                .getValue())
        .isEqualTo(value);
  }

  /** Calls need a token from now on; this client has one. */
  void enableLogins() {
    // Odd requests may have created one already.
    tolerant(
        () ->
            call(
                AuthGrpc.getUserAddMethod(),
                AuthUserAddRequest.newBuilder().setName("root").setPassword("r").build()));
    tolerant(
        () ->
            call(
                AuthGrpc.getUserGrantRoleMethod(),
                AuthUserGrantRoleRequest.newBuilder().setUser("root").setRole("root").build()));
    call(
        AuthGrpc.getUserChangePasswordMethod(),
        AuthUserChangePasswordRequest.newBuilder().setName("root").setPassword("r").build());
    call(AuthGrpc.getAuthEnableMethod(), AuthEnableRequest.getDefaultInstance());
    metadata.put(
        TOKEN,
        call(
                AuthGrpc.getAuthenticateMethod(),
                AuthenticateRequest.newBuilder().setName("root").setPassword("r").build())
            .getToken());
  }

  private static void tolerant(Runnable call) {
    try {
      call.run();
    } catch (StatusRuntimeException refused) {
      assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
    }
  }

  long served() {
    return served;
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
