package io.troupe.tests.crash;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.DefragmentRequest;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.DeleteRangeResponse;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseKeepAliveRequest;
import io.etcd.jetcd.api.LeaseKeepAliveResponse;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.LeaseTimeToLiveRequest;
import io.etcd.jetcd.api.LeaseTimeToLiveResponse;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.PutResponse;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** One connection to a member; each unary call has a deadline, and the client repeats none. */
final class EtcdClient implements AutoCloseable {
  /** For clients that continue while a member is paused or restarts. */
  static final Duration SHORT_DEADLINE = Duration.ofSeconds(3);

  private static final Duration DEADLINE = Duration.ofSeconds(15);
  private static final long LONG_DEADLINE_MS = 30_000;

  private final ManagedChannel channel;
  private final long deadlineMs;

  EtcdClient(int port) {
    this(port, DEADLINE);
  }

  EtcdClient(int port, Duration deadline) {
    this.deadlineMs = deadline.toMillis();
    this.channel =
        Grpc.newChannelBuilder("127.0.0.1:" + port, InsecureChannelCredentials.create())
            .maxInboundMessageSize(64 << 20)
            .disableRetry()
            .build();
  }

  static ByteString bytes(String text) {
    return ByteString.copyFromUtf8(text);
  }

  PutResponse put(String key, String value, long lease) {
    return call(KVGrpc.getPutMethod(), put(bytes(key), bytes(value), lease));
  }

  PutResponse putBytes(ByteString key, ByteString value) {
    return call(KVGrpc.getPutMethod(), put(key, value, 0));
  }

  static PutRequest put(ByteString key, ByteString value, long lease) {
    return PutRequest.newBuilder().setKey(key).setValue(value).setLease(lease).build();
  }

  ListenableFuture<PutResponse> putLater(PutRequest put) {
    return ClientCalls.futureUnaryCall(
        channel.newCall(KVGrpc.getPutMethod(), options(LONG_DEADLINE_MS)), put);
  }

  DeleteRangeResponse delete(String key) {
    return call(
        KVGrpc.getDeleteRangeMethod(), DeleteRangeRequest.newBuilder().setKey(bytes(key)).build());
  }

  TxnResponse txn(TxnRequest request) {
    return call(KVGrpc.getTxnMethod(), request);
  }

  /** All keys from {@code from} to below {@code end}; revision 0 is the newest, linearizable. */
  RangeResponse range(String from, String end, long revision) {
    return slow(
        KVGrpc.getRangeMethod(),
        RangeRequest.newBuilder()
            .setKey(bytes(from))
            .setRangeEnd(bytes(end))
            .setRevision(revision)
            .build());
  }

  /** The first keys from {@code from} to below {@code end}, newest. */
  List<KeyValue> page(String from, String end, int limit) {
    return slow(
            KVGrpc.getRangeMethod(),
            RangeRequest.newBuilder()
                .setKey(bytes(from))
                .setRangeEnd(bytes(end))
                .setLimit(limit)
                .build())
        .getKvsList();
  }

  void compact(long revision, boolean physical) {
    CompactionRequest request =
        CompactionRequest.newBuilder().setRevision(revision).setPhysical(physical).build();
    if (physical) {
      slow(KVGrpc.getCompactMethod(), request);
    } else {
      call(KVGrpc.getCompactMethod(), request);
    }
  }

  void defragment() {
    slow(MaintenanceGrpc.getDefragmentMethod(), DefragmentRequest.getDefaultInstance());
  }

  void grant(long id, long ttlSeconds) {
    call(
        LeaseGrpc.getLeaseGrantMethod(),
        LeaseGrantRequest.newBuilder().setID(id).setTTL(ttlSeconds).build());
  }

  long revoke(long id) {
    return call(LeaseGrpc.getLeaseRevokeMethod(), LeaseRevokeRequest.newBuilder().setID(id).build())
        .getHeader()
        .getRevision();
  }

  LeaseTimeToLiveResponse timeToLive(long id) {
    return slow(
        LeaseGrpc.getLeaseTimeToLiveMethod(),
        LeaseTimeToLiveRequest.newBuilder().setID(id).setKeys(true).build());
  }

  StreamObserver<LeaseKeepAliveRequest> keepAlive(StreamObserver<LeaseKeepAliveResponse> answers) {
    return ClientCalls.asyncBidiStreamingCall(
        channel.newCall(LeaseGrpc.getLeaseKeepAliveMethod(), CallOptions.DEFAULT), answers);
  }

  StreamObserver<WatchRequest> watch(StreamObserver<WatchResponse> events) {
    return ClientCalls.asyncBidiStreamingCall(
        channel.newCall(WatchGrpc.getWatchMethod(), CallOptions.DEFAULT), events);
  }

  private <Q, A> A call(MethodDescriptor<Q, A> method, Q request) {
    return ClientCalls.blockingUnaryCall(channel, method, options(deadlineMs), request);
  }

  private <Q, A> A slow(MethodDescriptor<Q, A> method, Q request) {
    return ClientCalls.blockingUnaryCall(channel, method, options(LONG_DEADLINE_MS), request);
  }

  private static CallOptions options(long deadlineMs) {
    return CallOptions.DEFAULT.withDeadlineAfter(deadlineMs, TimeUnit.MILLISECONDS);
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
