package io.troupe.tests.faults;

import io.etcd.jetcd.api.ClusterGrpc;
import io.etcd.jetcd.api.HashKVRequest;
import io.etcd.jetcd.api.HashKVResponse;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseKeepAliveRequest;
import io.etcd.jetcd.api.LeaseKeepAliveResponse;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.MemberAddRequest;
import io.etcd.jetcd.api.MoveLeaderRequest;
import io.etcd.jetcd.api.StatusRequest;
import io.etcd.jetcd.api.StatusResponse;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.troupe.grpc.api.LeaseLeasesRequest;
import io.troupe.grpc.api.LeaseLeasesResponse;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** One connection to a member; each call has a deadline, and the client repeats none. */
final class MemberCalls implements AutoCloseable {
  /** The client library with the other methods does not have it. */
  private static final MethodDescriptor<LeaseLeasesRequest, LeaseLeasesResponse> LEASES =
      MethodDescriptor.<LeaseLeasesRequest, LeaseLeasesResponse>newBuilder()
          .setType(MethodDescriptor.MethodType.UNARY)
          .setFullMethodName("etcdserverpb.Lease/LeaseLeases")
          .setRequestMarshaller(ProtoUtils.marshaller(LeaseLeasesRequest.getDefaultInstance()))
          .setResponseMarshaller(ProtoUtils.marshaller(LeaseLeasesResponse.getDefaultInstance()))
          .build();

  private final ManagedChannel channel;

  MemberCalls(String endpoint) {
    this.channel =
        Grpc.newChannelBuilder(endpoint, InsecureChannelCredentials.create())
            .maxInboundMessageSize(256 << 20)
            .disableRetry()
            .build();
  }

  /**
   * Calls and waits.
   *
   * @throws StatusRuntimeException whatever the call ends with but an answer
   */
  <Q, A> A call(MethodDescriptor<Q, A> method, Q request, long deadlineMs) {
    // Otherwise the channel retries a stopped member after growing delays.
    channel.resetConnectBackoff();
    return ClientCalls.blockingUnaryCall(channel, method, options(deadlineMs), request);
  }

  /** The status of the member. */
  StatusResponse status(long deadlineMs) {
    return call(MaintenanceGrpc.getStatusMethod(), StatusRequest.getDefaultInstance(), deadlineMs);
  }

  HashKVResponse hashKv(long revision) {
    return call(
        MaintenanceGrpc.getHashKVMethod(),
        HashKVRequest.newBuilder().setRevision(revision).build(),
        20_000);
  }

  LeaseLeasesResponse leases() {
    return call(LEASES, LeaseLeasesRequest.getDefaultInstance(), 5000);
  }

  /** Adds a voter; does not start it. */
  void addMember(String peerUrl) {
    MemberAddRequest request = MemberAddRequest.newBuilder().addPeerURLs(peerUrl).build();
    call(ClusterGrpc.getMemberAddMethod(), request, 20_000);
  }

  void moveLeader(long to) {
    MoveLeaderRequest request = MoveLeaderRequest.newBuilder().setTargetID(to).build();
    call(MaintenanceGrpc.getMoveLeaderMethod(), request, 5000);
  }

  /** Renews a lease on a separate stream. */
  LeaseKeepAliveResponse keepAlive(long lease, long deadlineMs) {
    channel.resetConnectBackoff();
    BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
    ClientCall<LeaseKeepAliveRequest, LeaseKeepAliveResponse> call =
        channel.newCall(LeaseGrpc.getLeaseKeepAliveMethod(), options(deadlineMs));
    StreamObserver<LeaseKeepAliveRequest> requests =
        ClientCalls.asyncBidiStreamingCall(call, into(answers));
    try {
      requests.onNext(LeaseKeepAliveRequest.newBuilder().setID(lease).build());
      Object first = answers.poll(deadlineMs + 1000, TimeUnit.MILLISECONDS);
      if (first instanceof LeaseKeepAliveResponse renewed) {
        return renewed;
      }
      throw first instanceof Throwable failure
          ? Status.fromThrowable(failure).asRuntimeException()
          : Status.DEADLINE_EXCEEDED.asRuntimeException();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Status.CANCELLED.asRuntimeException();
    } finally {
      call.cancel("answered", null);
    }
  }

  private static StreamObserver<LeaseKeepAliveResponse> into(BlockingQueue<Object> answers) {
    return new StreamObserver<>() {
      @Override
      public void onNext(LeaseKeepAliveResponse answer) {
        answers.add(answer);
      }

      @Override
      public void onError(Throwable failure) {
        answers.add(failure);
      }

      @Override
      public void onCompleted() {
        answers.add(Status.UNAVAILABLE.asRuntimeException());
      }
    };
  }

  /** Opens a stream of watches; cancelling the call ends it. */
  ClientCall<WatchRequest, WatchResponse> watch() {
    channel.resetConnectBackoff();
    return channel.newCall(WatchGrpc.getWatchMethod(), CallOptions.DEFAULT);
  }

  private static CallOptions options(long deadlineMs) {
    return CallOptions.DEFAULT.withDeadlineAfter(deadlineMs, TimeUnit.MILLISECONDS);
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
