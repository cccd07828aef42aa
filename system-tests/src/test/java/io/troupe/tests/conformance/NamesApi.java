package io.troupe.tests.conformance;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.troupe.grpc.api.election.CampaignRequest;
import io.troupe.grpc.api.election.CampaignResponse;
import io.troupe.grpc.api.election.LeaderRequest;
import io.troupe.grpc.api.election.LeaderResponse;
import io.troupe.grpc.api.election.ProclaimRequest;
import io.troupe.grpc.api.election.ProclaimResponse;
import io.troupe.grpc.api.election.ResignRequest;
import io.troupe.grpc.api.election.ResignResponse;
import io.troupe.grpc.api.lock.LockRequest;
import io.troupe.grpc.api.lock.LockResponse;
import io.troupe.grpc.api.lock.UnlockRequest;
import io.troupe.grpc.api.lock.UnlockResponse;

/** The Election and Lock services for grpc-java, and calls that wait. */
final class NamesApi {
  private static final String ELECTION = "v3electionpb.Election";
  private static final String LOCK_SERVICE = "v3lockpb.Lock";

  static final MethodDescriptor<CampaignRequest, CampaignResponse> CAMPAIGN =
      method(
          MethodType.UNARY,
          ELECTION,
          "Campaign",
          CampaignRequest.getDefaultInstance(),
          CampaignResponse.getDefaultInstance());
  static final MethodDescriptor<ProclaimRequest, ProclaimResponse> PROCLAIM =
      method(
          MethodType.UNARY,
          ELECTION,
          "Proclaim",
          ProclaimRequest.getDefaultInstance(),
          ProclaimResponse.getDefaultInstance());
  static final MethodDescriptor<LeaderRequest, LeaderResponse> LEADER =
      method(
          MethodType.UNARY,
          ELECTION,
          "Leader",
          LeaderRequest.getDefaultInstance(),
          LeaderResponse.getDefaultInstance());
  static final MethodDescriptor<LeaderRequest, LeaderResponse> OBSERVE =
      method(
          MethodType.SERVER_STREAMING,
          ELECTION,
          "Observe",
          LeaderRequest.getDefaultInstance(),
          LeaderResponse.getDefaultInstance());
  static final MethodDescriptor<ResignRequest, ResignResponse> RESIGN =
      method(
          MethodType.UNARY,
          ELECTION,
          "Resign",
          ResignRequest.getDefaultInstance(),
          ResignResponse.getDefaultInstance());
  static final MethodDescriptor<LockRequest, LockResponse> LOCK =
      method(
          MethodType.UNARY,
          LOCK_SERVICE,
          "Lock",
          LockRequest.getDefaultInstance(),
          LockResponse.getDefaultInstance());
  static final MethodDescriptor<UnlockRequest, UnlockResponse> UNLOCK =
      method(
          MethodType.UNARY,
          LOCK_SERVICE,
          "Unlock",
          UnlockRequest.getDefaultInstance(),
          UnlockResponse.getDefaultInstance());

  private NamesApi() {}

  private static <Q extends Message, R extends Message> MethodDescriptor<Q, R> method(
      MethodType type, String service, String name, Q request, R response) {
    return MethodDescriptor.<Q, R>newBuilder()
        .setType(type)
        .setFullMethodName(MethodDescriptor.generateFullMethodName(service, name))
        .setRequestMarshaller(ProtoUtils.marshaller(request))
        .setResponseMarshaller(ProtoUtils.marshaller(response))
        .build();
  }

  static CampaignRequest campaign(String name, long lease, String value) {
    return CampaignRequest.newBuilder()
        .setName(ByteString.copyFromUtf8(name))
        .setLease(lease)
        .setValue(ByteString.copyFromUtf8(value))
        .build();
  }

  static LeaderRequest leader(String name) {
    return LeaderRequest.newBuilder().setName(ByteString.copyFromUtf8(name)).build();
  }

  static LockRequest lock(String name, long lease) {
    return LockRequest.newBuilder().setName(ByteString.copyFromUtf8(name)).setLease(lease).build();
  }

  /** A call in progress. */
  static final class Pending<R> {
    final StreamResponses<R> answers = new StreamResponses<>();
    private final ClientCall<?, R> call;

    private Pending(ClientCall<?, R> call) {
      this.call = call;
    }

    static <Q, R> Pending<R> start(
        ManagedChannel channel, MethodDescriptor<Q, R> method, Q request, CallOptions options) {
      ClientCall<Q, R> call = channel.newCall(method, options);
      Pending<R> pending = new Pending<>(call);
      if (method.getType() == MethodType.UNARY) {
        ClientCalls.asyncUnaryCall(call, request, pending.answers);
      } else {
        ClientCalls.asyncServerStreamingCall(call, request, pending.answers);
      }
      return pending;
    }

    static <Q, R> Pending<R> start(ApiClient client, MethodDescriptor<Q, R> method, Q request) {
      return start(client.channel(), method, request, CallOptions.DEFAULT);
    }

    void cancel() {
      call.cancel("the test goes away", null);
    }
  }
}
